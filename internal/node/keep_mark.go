package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/datadir"
	core "github.com/stint-dev/stint/internal/job"
)

// markName is the file in a pod's log folder that says whose log it is; it is there once the pod is deleted.
const markName = "kept.json"

// keepMark is what a kept log needs to be known of its pod.
type keepMark struct {
	Job    string    `json:"job"`
	JobUID types.UID `json:"jobUID"`
	// Index is the completion index, if there is one.
	Index string `json:"index,omitempty"`
	// Ended is when the last container ended, or else when the pod was deleted.
	Ended time.Time `json:"ended"`
}

// markFor is the mark of a deleted pod, if a Job owns it.
func markFor(api *corev1.Pod) (keepMark, bool) {
	job := jobOf(api)
	if job == nil {
		return keepMark{}, false
	}
	mark := keepMark{Job: job.Name, JobUID: job.UID}
	if _, indexed := api.Annotations[batchv1.JobCompletionIndexAnnotation]; indexed {
		mark.Index = strconv.Itoa(core.IndexOf(api))
	}
	for _, list := range [][]corev1.ContainerStatus{api.Status.InitContainerStatuses, api.Status.ContainerStatuses} {
		for i := range list {
			if t := list[i].State.Terminated; t != nil && t.FinishedAt.After(mark.Ended) {
				mark.Ended = t.FinishedAt.UTC().Truncate(time.Second)
			}
		}
	}
	if mark.Ended.IsZero() {
		mark.Ended = now().UTC().Truncate(time.Second)
	}
	return mark, true
}

func readMark(dir string) (mark keepMark, err error) {
	text, err := datadir.ReadFile(filepath.Join(dir, markName))
	if err != nil {
		return mark, err
	}
	if err := json.Unmarshal(text, &mark); err != nil || mark.JobUID == "" {
		return keepMark{}, fmt.Errorf("%s of %s says nothing", markName, dir)
	}
	return mark, nil
}

// writeMark writes the mark unless it stands there.
func writeMark(dir string, mark keepMark) error {
	if before, err := readMark(dir); err == nil && before == mark {
		return nil
	}
	text, err := json.Marshal(mark)
	if err != nil {
		return err
	}
	return replace(filepath.Join(dir, markName), text)
}

// replace writes a file whole or not at all, whenever the process dies. It does not wait for the disk, which thousands
// of deleted pods would take up for long: after a power failure a lost mark is guessed.
func replace(path string, text []byte) error {
	fresh := path + ".new"
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

// splitFolder takes <namespace>_<pod>_<uid> apart.
func splitFolder(folder string) (namespace, pod string) {
	namespace, rest, _ := strings.Cut(folder, "_")
	pod, _, _ = strings.Cut(rest, "_")
	return namespace, pod
}

// guess finds the Job of a log by the name that the controller gave the pod: JOB-RANDOM or JOB-INDEX-RANDOM. The mark is
// empty where no Job fits.
func (k *keeper) guess(folder string) keepMark {
	info, err := os.Stat(filepath.Join(k.dir, folder))
	if err != nil {
		return keepMark{}
	}
	namespace, pod := splitFolder(folder)
	name, _ := cutLast(pod)
	shorter, index := cutLast(name)
	for _, c := range []struct {
		job, index string
		mode       batchv1.CompletionMode
	}{{name, "", batchv1.NonIndexedCompletion}, {shorter, index, batchv1.IndexedCompletion}} {
		job := k.known(namespace, c.job)
		// The pod of an earlier Job of this name had printed before this one was made.
		if job == nil || info.ModTime().Before(job.CreationTimestamp.Time) || core.ModeOf(job) != c.mode {
			continue
		}
		return keepMark{Job: job.Name, JobUID: job.UID, Index: c.index, Ended: info.ModTime().UTC().Truncate(time.Second)}
	}
	return keepMark{}
}

func cutLast(name string) (before, after string) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return "", name
	}
	return name[:i], name[i+1:]
}

// The file dropped tells up to which end of pods logs were dropped because they were too many. Of a pod that ended later
// and has no folder one can say that it printed nothing.
const droppedName = "dropped"

// noneKept stands there while a node keeps no logs of deleted pods.
var noneKept = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// readDropped is zero where nothing was dropped.
func readDropped(dir string) time.Time {
	text, err := datadir.ReadFile(filepath.Join(dir, droppedName))
	if err != nil {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text)))
	if err != nil {
		return time.Time{}
	}
	return t
}

func writeDropped(dir string, t time.Time) error {
	text := []byte(t.UTC().Format(time.RFC3339) + "\n")
	err := replace(filepath.Join(dir, droppedName), text)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return replace(filepath.Join(dir, droppedName), text)
}
