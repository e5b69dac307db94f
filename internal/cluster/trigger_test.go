package cluster_test

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/test/kube"
)

// stint trigger --wait follows a run to its end, even if its Job is deleted at once.
func TestClusterTriggerWaitsForRuns(t *testing.T) {
	c := kube.Shared(t)
	s := newSchedules(t, c)
	controller(t, c, "", "--leader-elect=false").awaitReady(t)
	forget := func(s *stintv1.ScheduledJobSpec) {
		s.SuccessfulJobsHistoryLimit, s.FailedJobsHistoryLimit = ptr.To[int32](0), ptr.To[int32](0)
	}
	s.make(t, newScheduledJob("keeps", ""))
	s.make(t, newScheduledJob("forgets", "", forget))
	s.make(t, newScheduledJob("fails", "", runsFail))
	s.make(t, newScheduledJob("forgets-failing", "", runsFail, forget))
	kubeconfig, err := c.Kubeconfig("")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		status int
		says   string
	}{
		"keeps":           {0, "job keeps-tag completed"},
		"forgets":         {0, "job forgets-tag completed"},
		"fails":           {1, "job fails-tag failed"},
		"forgets-failing": {1, "job forgets-failing-tag failed"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := stintCommand("trigger", name, "--wait", "--tag", "tag", "--kubeconfig", kubeconfig, "-n", s.namespace)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			cmd.Run()
			text := strings.ReplaceAll(out.String(), s.namespace+"/", "")
			if got := cmd.ProcessState.ExitCode(); got != want.status || !strings.Contains(text, want.says) {
				t.Errorf("status %d, want %d; %q is not in:\n%s", got, want.status, want.says, out.String())
			}
		})
	}
}
