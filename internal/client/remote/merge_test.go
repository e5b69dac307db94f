package remote

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

func TestAMergePatchHoldsTheChangeAndTheVersion(t *testing.T) {
	for name, c := range map[string]struct {
		part   part
		change func(*stintv1.ScheduledJob)
		want   string
	}{
		"nothing": {mainPart, func(*stintv1.ScheduledJob) {}, ""},
		"a label and no finalizer": {mainPart, func(s *stintv1.ScheduledJob) { s.Labels, s.Finalizers = map[string]string{"l": "1"}, nil },
			`{"metadata":{"finalizers":null,"labels":{"l":"1"},"resourceVersion":"7","uid":"u"}}`},
		"a field of the spec": {mainPart, func(s *stintv1.ScheduledJob) { s.Spec.Suspend = ptr.To(true) },
			`{"metadata":{"resourceVersion":"7","uid":"u"},"spec":{"suspend":true}}`},
		"the status, in the main part": {mainPart, func(s *stintv1.ScheduledJob) { s.Status.ScheduleCount = 2 }, ""},
		"a list of the status is whole": {statusPart, func(s *stintv1.ScheduledJob) {
			s.Status.PendingExecutions = append(s.Status.PendingExecutions, stintv1.Execution{Tag: "b"})
		}, `{"metadata":{"resourceVersion":"7","uid":"u"},"status":{"pendingExecutions":[{"tag":"a"},{"tag":"b"}]}}`},
		"the main part, in the status part": {statusPart, func(s *stintv1.ScheduledJob) { s.Spec.Suspend = ptr.To(true) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			observed := &stintv1.ScheduledJob{
				ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "n", UID: "u", ResourceVersion: "7", Finalizers: []string{"f"}},
				Status:     stintv1.ScheduledJobStatus{PendingExecutions: []stintv1.Execution{{Tag: "a"}}, ScheduleCount: 1},
			}
			got, err := mergePatch(observed, c.change, c.part)
			if err != nil || string(got) != c.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, c.want)
			}
		})
	}
}
