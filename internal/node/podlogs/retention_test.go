package podlogs

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
