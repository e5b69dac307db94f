package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"
)

// loneJobs is how many Jobs of one pod a run starts, each after the one before it has ended.
const loneJobs = 30

// loneJobLatencies measures, in milliseconds, how long after the request to create a Job a watch shows it Complete.
func loneJobLatencies(ctx context.Context, set *kubernetes.Clientset) ([]float64, error) {
	w, err := set.BatchV1().Jobs(namespace).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	defer w.Stop()
	var all []float64
	for i := range loneJobs {
		job := noopJob(fmt.Sprint("lone-", i), 1, 1)
		began := time.Now()
		if _, err := set.BatchV1().Jobs(namespace).Create(ctx, job, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
		for complete := false; !complete; {
			event, ok := <-w.ResultChan()
			if !ok {
				return nil, errors.New("the watch on Jobs ended")
			}
			seen, ok := event.Object.(*batchv1.Job)
			complete = ok && seen.Name == job.Name && ended(seen) == batchv1.JobComplete
		}
		all = append(all, milliseconds(time.Since(began)))
	}
	return all, nil
}

// stintRuns measures, in milliseconds, `stint run` of Jobs of one pod, each by itself. Where data is empty, each has a new
// data directory; a server may be running on the one that is named.
func (b *bench) stintRuns(ctx context.Context, program, data string, n int) ([]float64, error) {
	dir, err := os.MkdirTemp(b.dir, "run-")
	if err != nil {
		return nil, err
	}
	var all []float64
	for i := range n {
		manifest, err := writeManifest(dir, noopJob(fmt.Sprint("run-", i), 1, 1))
		if err != nil {
			return nil, err
		}
		ms, err := stintRun(ctx, program, cmp.Or(data, filepath.Join(dir, fmt.Sprint("data-", i))), manifest)
		if err != nil {
			return nil, err
		}
		all = append(all, ms)
	}
	return all, nil
}

func writeManifest(dir string, job *batchv1.Job) (file string, err error) {
	job.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
	text, err := yaml.Marshal(job)
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, job.Name+".yaml")
	return file, os.WriteFile(file, text, 0o600)
}

func stintRun(ctx context.Context, program, data, manifest string) (ms float64, err error) {
	cmd := exec.CommandContext(ctx, program, "run", "--local", "--data-dir", data, "-f", manifest)
	cmd.Env = append(os.Environ(), "STINT_RUNTIME=process")
	began := time.Now()
	if output, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("stint run: %w\n%s", err, output)
	}
	return milliseconds(time.Since(began)), nil
}
