package run

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// noteRelative warns of files in the current directory that containers will not find, as they start in another one.
func (s *submitter) noteRelative(jobs []*batchv1.Job) {
	here, err := os.Getwd()
	if err != nil {
		return
	}
	var missed []string
	for _, job := range jobs {
		missed = append(missed, missedFiles(&job.Spec.Template.Spec, here, isFile)...)
	}
	slices.Sort(missed)
	if missed = slices.Compact(missed); len(missed) > 0 {
		s.out.Note(fmt.Sprintf("containers start in /, where there is no %s; for the one in %s, set workingDir: %s",
			strings.Join(missed, " and no "), here, here))
	}
}

// missedFiles returns the words of commands that are the path of a file relative to here, but not relative to the directory in
// which the container starts.
func missedFiles(pod *corev1.PodSpec, here string, isFile func(path string) bool) (words []string) {
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		if c.WorkingDir != "" {
			continue
		}
		for _, word := range slices.Concat(c.Command, c.Args) {
			if !filepath.IsAbs(word) && isFile(filepath.Join(here, word)) && !isFile(filepath.Join("/", word)) {
				words = append(words, word)
			}
		}
	}
	return words
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
