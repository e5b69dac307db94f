package registry

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

func TestResultSlicesStaySmall(t *testing.T) {
	long := strings.Repeat("x", stintv1.MaxResultName+1)
	tests := map[string]struct {
		edit func(s *stintv1.ResultSlice)
		want []string
	}{
		"what a controller writes": {func(*stintv1.ResultSlice) {}, nil},
		"nothing":                  {func(s *stintv1.ResultSlice) { s.Results = nil }, nil},
		"as many as there may be": {func(s *stintv1.ResultSlice) {
			for len(s.Results) < stintv1.MaxSliceResults {
				s.Results = append(s.Results, s.Results[0])
			}
		}, nil},
		"too many": {func(s *stintv1.ResultSlice) {
			for len(s.Results) <= stintv1.MaxSliceResults {
				s.Results = append(s.Results, s.Results[0])
			}
		}, []string{"results"}},
		"less than none before": {func(s *stintv1.ResultSlice) { s.Before = -1 }, []string{"before"}},
		"a result of no pod":    {func(s *stintv1.ResultSlice) { s.Results[0].Pod, s.Results[0].UID = "", "" }, []string{"results[0].pod", "results[0].uid"}},
		"a phase that is none":  {func(s *stintv1.ResultSlice) { s.Results[0].Phase = "Done" }, []string{"results[0].phase"}},
		"numbers below zero": {func(s *stintv1.ResultSlice) {
			r := &s.Results[0]
			r.Restarts, r.Signal, r.Index = -1, -1, ptr.To[int32](-1)
		}, []string{"results[0].restarts", "results[0].signal", "results[0].index"}},
		"an exit code below zero": {func(s *stintv1.ResultSlice) { s.Results[0].ExitCode = ptr.To[int32](-1) }, nil},
		"names without end": {func(s *stintv1.ResultSlice) {
			r := &s.Results[0]
			r.Pod, r.UID, r.Node, r.Container, r.Reason = long, "u", long, long, long
		}, []string{"results[0].pod", "results[0].node", "results[0].container", "results[0].reason"}},
		"a message without end": {func(s *stintv1.ResultSlice) { s.Results[0].Message = strings.Repeat("x", stintv1.MaxResultMessage+1) }, []string{"results[0].message"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			slice := &stintv1.ResultSlice{Results: []stintv1.PodResult{{Pod: "p", UID: "u", Phase: corev1.PodSucceeded, ExitCode: ptr.To[int32](0)}}}
			slice.Name = "s"
			tt.edit(slice)
			var got []string
			for _, err := range ResultSlice().Validate(context.Background(), slice) {
				got = append(got, err.Field)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
