package job_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
)

func TestMorePodsThanOneSyncMayCreateAreAllCreated(t *testing.T) {
	o := quick()
	o.MaxPodCreateDeletePerSync = 3
	e := start(t, o, always(pend))
	e.create(newJob("j", pods(10, 10)))
	e.until("j", "ten pods that nothing has happened to", func(j *batchv1.Job) bool { return j.Status.Active == 10 })
}
