package scenario_test

import (
	"fmt"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// statusScenarios are about the status when others write to the Job at the same time.
var statusScenarios = []scenario{
	{
		name: "no count is lost while another client writes to the Job all the time",
		play: func(s *scene) {
			j := s.create(aJob(pods(30, 5)))
			finished := make(chan struct{})
			var writing sync.WaitGroup
			writing.Go(func() { j.pester(finished) })
			defer writing.Wait()
			defer close(finished)
			for done := 0; done < 30; done += 5 {
				j.active(5).succeed()
			}
			j.becomes(succeeded(30), failed(0), complete())
		},
	},
	{
		name: "a condition that another client added stays",
		play: func(s *scene) {
			j := s.create(aJob())
			j.active(1)
			j.becomes(active(1))
			j.updateStatus(func(o *batchv1.Job) {
				o.Status.Conditions = append(o.Status.Conditions, batchv1.JobCondition{
					Type: "example.com/Seen", Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()})
			})
			j.active(1).succeed()
			j.becomes(complete(), is("example.com/Seen", ""))
		},
	},
	{
		name: "numbers of pods that another client wrote are corrected",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2)))
			j.active(2)
			j.becomes(active(2))
			j.updateStatus(func(o *batchv1.Job) { o.Status.Active = 1 })
			j.active(2)[:1].run()
			j.becomes(active(2), ready(1))
			j.active(2).succeed()
			j.becomes(succeeded(2), complete())
		},
	},
	{
		name: "the spec changes while pods end, and the last change counts",
		play: func(s *scene) {
			j := s.create(aJob(workers(6)))
			all := j.active(6).run()
			for _, n := range []int32{2, 5, 1, 4} {
				j.scale(n)
			}
			all[:1].become("there", func(*corev1.Pod) bool { return true })
			j.active(4)
			j.becomes(active(4), failed(0), succeeded(0))
			j.stays(active(4))
		},
	},
	{
		name: "many Jobs at the same time do not mix up their pods",
		play: func(s *scene) {
			var jobs []*job
			for i := range 15 {
				jobs = append(jobs, s.create(aJob(named(fmt.Sprintf("job-%d", i)), pods(4, 2))))
			}
			var playing sync.WaitGroup
			for range 2 {
				for _, j := range jobs {
					playing.Go(func() { j.active(2).succeed() })
				}
				playing.Wait()
			}
			for _, j := range jobs {
				j.becomes(succeeded(4), failed(0), complete())
				j.ended(4)
			}
		},
	},
	{
		name: "events name every pod",
		play: func(s *scene) {
			j := s.create(aJob(pods(3, 3)))
			made := j.active(3)
			j.mentions("SuccessfulCreate", "Created pod: ", made)
			j.scale(1)
			left := j.active(1)
			j.mentions("SuccessfulDelete", "Deleted pod: ", made.without(left))
		},
	},
}

// pester changes a label of the Job again and again, until stop is closed.
func (j *job) pester(stop <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		patch := fmt.Sprintf(`{"metadata":{"labels":{"round":"%d"}}}`, i)
		if _, err := j.api.BatchV1().Jobs(j.namespace).Patch(j.Context(), j.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			j.Error(err)
			return
		}
	}
}

// mentions waits until the Job has, for each of the pods, an event that names it.
func (j *job) mentions(reason, text string, l podList) {
	j.Helper()
	j.eventually(func(h *history) string {
		told := map[string]bool{}
		for _, e := range h.events(j.uid) {
			told[e.Reason+e.Message] = true
		}
		for _, p := range l {
			if !told[reason+text+p.Name] {
				return fmt.Sprintf("an event %s about pod %s", reason, p.Name)
			}
		}
		return ""
	})
}
