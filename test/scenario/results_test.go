package scenario_test

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// resultsOf returns the stored results of a Job's pods. Call it from until only.
func (h *history) resultsOf(job types.UID) map[types.UID]stintv1.PodResult {
	all := map[types.UID]stintv1.PodResult{}
	for _, o := range h.newest {
		if s, is := o.(*stintv1.ResultSlice); is && controls(job, s) {
			for _, r := range s.Results {
				if old, known := all[r.UID]; !known || old.FinishedAt == nil {
					all[r.UID] = r
				}
			}
		}
	}
	return all
}

// hasResults waits until there are results of the pods, which may be gone, with this phase and exit code.
func (j *job) hasResults(l podList, phase corev1.PodPhase, code int32) {
	j.Helper()
	j.eventually(func(h *history) string {
		kept := h.resultsOf(j.uid)
		for _, p := range l {
			r, known := kept[p.UID]
			if !known || r.Pod != p.Name || r.Phase != phase || ptr.Deref(r.ExitCode, -1) != code || r.FinishedAt == nil || r.Node != nodeName {
				return fmt.Sprintf("the result of pod %s, %s with %d, not %+v", p.Name, phase, code, r)
			}
		}
		return ""
	})
}

// resultsScenarios are about the results of pods that are gone.
var resultsScenarios = []scenario{
	{
		name: "the results of pods are kept when they are gone",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), backoff("0")))
			first := j.active(2)
			first[:1].fail(42)
			j.becomes(failed(1))
			second := j.active(2)
			second.succeed()
			j.becomes(complete())
			all := j.ended(3)
			all.forceDelete()
			all.gone()
			j.hasResults(first[:1], corev1.PodFailed, 42)
			j.hasResults(second, corev1.PodSucceeded, 0)
			j.answers(func(r *stintv1.JobResults) {
				s.same("attempts", []int32{2, 1}, []int32{r.Items[0].Attempts, r.Items[1].Attempts})
				s.same("the first attempt", first[0].Name, r.Items[0].Earlier[0].Pod)
				s.same("exit codes", []*int32{ptr.To[int32](0), ptr.To[int32](42)}, []*int32{r.Items[0].ExitCode, r.Items[0].Earlier[0].ExitCode})
			})
		},
	},
	{
		name:     "no result is lost of pods that ended while the controller was away, or while it restarts again and again",
		restarts: true,
		play: func(s *scene) {
			j := s.create(aJob(pods(12, 4)))
			var all podList
			for range 3 {
				four := j.active(4)
				all = append(all, four...)
				s.stopController()
				four.succeed()
				four.forceDelete()
				s.startController()
				four.gone()
			}
			j.becomes(succeeded(12), complete())
			j.hasResults(all, corev1.PodSucceeded, 0)
		},
	},
	{
		name: "the results of pods are deleted with the Job",
		play: func(s *scene) {
			j := s.create(aJob())
			p := j.active(1)
			p.succeed()
			j.becomes(complete())
			j.hasResults(p, corev1.PodSucceeded, 0)
			j.delete(metav1.DeletePropagationBackground)
			j.gone()
			j.eventually(func(h *history) string {
				if n := len(h.resultsOf(j.uid)); n > 0 {
					return fmt.Sprintf("no results to be kept of a Job that is gone; there are %d", n)
				}
				return ""
			})
		},
	},
}

// answers checks the results that Stint's own API server returns for the Job. Other API servers have no such
// subresource.
func (j *job) answers(look func(*stintv1.JobResults)) {
	j.Helper()
	if j.column.name != onServer {
		return
	}
	text, err := j.api.BatchV1().RESTClient().Get().Namespace(j.namespace).Resource("jobs").Name(j.name).SubResource("results").DoRaw(j.Context())
	j.must(err)
	results := &stintv1.JobResults{}
	j.must(json.Unmarshal(text, results))
	j.same("number of results", int(*j.now().Spec.Completions), len(results.Items))
	if !j.Failed() {
		look(results)
	}
}
