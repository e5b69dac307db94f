package podlogs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/datadir"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podstatus"
)

// ownerName is the file in a pod's log folder that holds its logOwner, written once the pod is deleted.
const ownerName = "kept.json"

// logOwner says which Job a retained log belongs to.
type logOwner struct {
	Job    string    `json:"job"`
	JobUID types.UID `json:"jobUID"`
	// Index is the completion index, if there is one.
	Index string `json:"index,omitempty"`
	// Ended is when the last container exited, or else when the pod was deleted.
	Ended time.Time `json:"ended"`
	// Incomplete is what the pod's logs lack, for people; empty if nothing is known to be missing.
	Incomplete string `json:"incomplete,omitempty"`
}

// ownerOf returns the owner of a deleted pod's logs, if a Job owns the pod.
func ownerOf(api *corev1.Pod) (logOwner, bool) {
	job := jobReference(api)
	if job == nil {
		return logOwner{}, false
	}
	owner := logOwner{Job: job.Name, JobUID: job.UID, Incomplete: podstatus.IncompleteLogs(api)}
	if _, indexed := api.Annotations[batchv1.JobCompletionIndexAnnotation]; indexed {
		owner.Index = strconv.Itoa(core.IndexOf(api))
	}
	for s := range podstatus.EveryContainer(&api.Status) {
		if t := s.State.Terminated; t != nil && t.FinishedAt.After(owner.Ended) {
			owner.Ended = t.FinishedAt.UTC().Truncate(time.Second)
		}
	}
	if owner.Ended.IsZero() {
		owner.Ended = now().UTC().Truncate(time.Second)
	}
	return owner, true
}

// jobReference returns the owner reference of a pod to its Job; nil if no Job owns it.
func jobReference(api *corev1.Pod) *metav1.OwnerReference {
	owner := metav1.GetControllerOf(api)
	if owner == nil || owner.Kind != "Job" || owner.APIVersion != batchv1.SchemeGroupVersion.String() {
		return nil
	}
	return owner
}

func readOwner(dir string) (owner logOwner, err error) {
	text, err := datadir.ReadFile(filepath.Join(dir, ownerName))
	if err != nil {
		return owner, err
	}
	if err := json.Unmarshal(text, &owner); err != nil || owner.JobUID == "" {
		return logOwner{}, fmt.Errorf("%s of %s is not valid", ownerName, dir)
	}
	return owner, nil
}

// writeOwner writes the owner unless it is stored already.
func writeOwner(dir string, owner logOwner) error {
	if before, err := readOwner(dir); err == nil && before == owner {
		return nil
	}
	text, err := json.Marshal(owner)
	if err != nil {
		return err
	}
	return replace(filepath.Join(dir, ownerName), text)
}

// replace writes a file whole or not at all, even if the process is killed. It does not sync the disk, which would take
// long for thousands of deleted pods: an owner that a power failure has destroyed is guessed.
func replace(path string, text []byte) error {
	fresh := path + ".new"
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}
