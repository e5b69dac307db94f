package scheduledjob_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/controller/scheduledjob"
	"github.com/stint-dev/stint/test/await"
)

func TestTheExitCodeIsThatOfTheLastPodOfAnIndex(t *testing.T) {
	e := start(t, scheduledjob.Options{})
	e.create(newScheduledJob("retries", "", command("hold"), func(s *stintv1.ScheduledJobSpec) { s.MaxRestart = ptr.To[int32](1) }))
	e.request("retries", "mine")
	e.until("retries", "it runs", lists(0, 1, 0))
	e.finish("retries", "mine", corev1.PodFailed)
	await.Until(e.t, "the second pod", func() bool {
		pods := e.podsOf("retries")
		return len(pods) == 2
	}, func() string { return "one" })
	for _, p := range e.podsOf("retries") {
		if p.Status.Phase != corev1.PodFailed {
			end(e.client, &p, corev1.PodSucceeded, 0)
		}
	}
	s := e.until("retries", "it has ended", lists(0, 0, 1))
	want := []stintv1.ExitCode{{Code: 0, Pods: 1, Indexes: "0"}}
	if run := s.CompletedExecutions[0]; !*run.Success || !cmp.Equal(want, run.ExitCodes) {
		t.Errorf("it is %+v, want success after one restart", run)
	}
}
