package podlogs

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/podstatus"
	"github.com/stint-dev/stint/test/wrappers"
)

// A client that follows the log of a pod reads its last lines after the pod is gone, even if its Job is deleted right then.
func TestTheLogOfADeletedPodStaysForItsDelayWhenTheJobIsDeletedNext(t *testing.T) {
	for sentence, c := range map[string]struct{ deletedBefore, want time.Duration }{
		"a pod that was deleted just now": {0, 10 * time.Second},
		"a few seconds ago":               {4 * time.Second, 6 * time.Second},
		"long ago":                        {time.Hour, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := Stored(t.TempDir())
			folder := folderOf("default", "talks-x7k2p", "pod-uid")
			if err := os.MkdirAll(filepath.Join(s.dir, folder, "main"), 0o700); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				r := NewRetention(s, RetentionConfig{Limit: 1 << 20})
				began := time.Now()
				r.retained.add(&retainedLog{folder: folder, owner: logOwner{Job: "talks", JobUID: "job-uid"},
					dropAfter: began.Add(10*time.Second - c.deletedBefore)})
				r.JobHandler().OnDelete(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "talks", UID: "job-uid"}})
				r.Close()
				r.Run(t.Context())
				if took := time.Since(began); took != c.want {
					t.Errorf("the log was gone after %s, want %s", took, c.want)
				}
			})
			if _, err := os.Stat(filepath.Join(s.dir, folder)); !os.IsNotExist(err) {
				t.Errorf("the log is still there: %v", err)
			}
		})
	}
}

// The status of the pod, which says so, is gone with it.
func TestKeptLogsSayThatTheyAreIncomplete(t *testing.T) {
	s := Stored(t.TempDir())
	job := wrappers.MakeJob("talks").Namespace("default").UID("job").Obj()
	for name, c := range map[string]struct {
		conditions []corev1.PodCondition
		want       string
	}{
		"whole": {},
		"part": {[]corev1.PodCondition{{Type: podstatus.LogsIncomplete, Status: corev1.ConditionTrue, Message: "container main: 7 bytes"}},
			"the logs of pod part are incomplete: container main: 7 bytes"},
	} {
		pod := wrappers.MakePodOf(job, name).UID("uid").Conditions(c.conditions...).Obj()
		dir := filepath.Join(s.dir, folderOf("default", name, "uid"))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		owner, ok := ownerOf(pod)
		if !ok {
			t.Fatal("the pod has no owner")
		}
		if err := writeOwner(dir, owner); err != nil {
			t.Fatal(err)
		}
		if got := s.Incomplete("default", &stintv1.PodResult{Pod: name, UID: "uid"}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := s.Incomplete("default", &stintv1.PodResult{Pod: "..", UID: "uid"}); got != "" {
		t.Errorf("of no pod: %q", got)
	}
}
