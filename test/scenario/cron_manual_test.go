package scenario_test

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const heldAnnotation = "stint.dev/held-by-concurrency-policy"

// ignoresManual is how upstream differs in Jobs that are made by hand.
const ignoresManual = "upstream ignores a Job that is made from a CronJob by hand: it is not listed, and no concurrency policy holds for it"

// cronManualScenarios are about Jobs that are made from a CronJob by hand, as kubectl create job --from does.
var cronManualScenarios = []scenario{
	{
		name: "a run by hand is listed while it is active, and its success is recorded", differs: ignoresManual,
		upstream: func(s *scene) {
			c := s.createCron()
			m := c.byHand("by-hand")
			c.tellsOf("UnexpectedJob: Saw a job that the controller did not create or forgot: by-hand")
			m.active(1).succeed()
			c.becomes(lists(), lastSucceeded(m), neverScheduled)
		},
		play: func(s *scene) {
			c := s.createCron()
			m := c.byHand("by-hand")
			c.becomes(lists(m))
			m.active(1).succeed()
			c.becomes(lists(), lastSucceeded(m), neverScheduled)
			c.has(m)
			c.tells("SawCompletedJob: Saw completed job: by-hand, condition: Complete")
		},
	},
	{
		name: "runs by hand that ended are history as others are",
		play: func(s *scene) {
			c := s.createCron(keeps(1, 1))
			first := c.runs(minutesAgo(20))
			s.passes(time.Second) // start times are whole seconds, and of two that are equal the name decides
			m := c.byHand("by-hand")
			m.active(1).succeed()
			first.gone()
			c.has(m)
			c.becomes(lastSucceeded(m))
			last := c.runs(minutesAgo(10))
			c.has(last)
		},
	},
	{
		name: "under Allow a run by hand starts beside another", differs: ignoresManual,
		play: func(s *scene) {
			c := s.createCron()
			j := c.starts(minutesAgo(20))
			m := c.byHand("by-hand")
			m.active(1)
			c.becomes(lists(j, m))
			next := c.starts(minutesAgo(10))
			c.becomes(lists(j, m, next))
		},
	},
	{
		name: "under Forbid no run starts beside one by hand, but when that has ended", differs: ignoresManual,
		play: func(s *scene) {
			at := minutesAgo(10)
			c := s.createCron(policy(batchv1.ForbidConcurrent))
			m := c.byHand("by-hand")
			c.becomes(lists(m))
			c.due(at)
			c.tellsOf(alreadyActive)
			c.stays(lists(m))
			c.has(m)
			m.active(1).succeed()
			c.has(m, c.jobOf(at))
		},
	},
	{
		name: "under Forbid a run by hand is held while another is active, and then resumed", differs: ignoresManual,
		play: func(s *scene) {
			c := s.createCron(policy(batchv1.ForbidConcurrent))
			j := c.starts(minutesAgo(10))
			c.becomes(lists(j))
			m := c.byHand("by-hand")
			m.becomes(held)
			m.active(0)
			c.stays(lists(j))
			c.tellsOf("RunHeld")
			j.active(1).succeed()
			m.becomes(isResumed)
			c.becomes(lists(m))
			c.tellsOf("RunReleased")
			m.active(1).succeed()
			c.becomes(lists(), lastSucceeded(m))
			c.has(j, m)
		},
	},
	{
		name: "held runs are resumed one after the other, oldest first, before a scheduled run starts", differs: ignoresManual,
		play: func(s *scene) {
			at := minutesAgo(10)
			c := s.createCron(policy(batchv1.ForbidConcurrent))
			j := c.starts(minutesAgo(20))
			c.becomes(lists(j))
			first := c.byHand("z-first")
			first.becomes(held)
			s.passes(time.Second) // creation times are whole seconds
			second := c.byHand("a-second")
			second.becomes(held)
			c.due(at)
			c.tellsOf(alreadyActive)
			j.active(1).succeed()
			first.becomes(isResumed)
			c.stays(lists(first))
			second.becomes(held)
			first.active(1).succeed()
			second.becomes(isResumed)
			c.stays(lists(second))
			c.has(j, first, second)
			second.active(1).succeed()
			next := c.jobOf(at)
			c.becomes(lists(next))
		},
	},
	{
		name: "a held run that is deleted holds back no other run", differs: ignoresManual,
		play: func(s *scene) {
			at := minutesAgo(10)
			c := s.createCron(policy(batchv1.ForbidConcurrent))
			j := c.starts(minutesAgo(20))
			c.becomes(lists(j))
			m := c.byHand("by-hand")
			m.becomes(held)
			m.delete(metav1.DeletePropagationBackground)
			m.gone()
			j.active(1).succeed()
			c.becomes(lists())
			c.due(at)
			c.has(j, c.jobOf(at))
		},
	},
	{
		name: "held runs are resumed when the policy becomes Allow", differs: ignoresManual,
		play: func(s *scene) {
			c := s.createCron(policy(batchv1.ForbidConcurrent))
			j := c.starts(minutesAgo(10))
			c.becomes(lists(j))
			m := c.byHand("by-hand")
			m.becomes(held)
			c.update(policy(batchv1.AllowConcurrent))
			m.becomes(isResumed)
			m.active(1)
			c.becomes(lists(j, m))
		},
	},
	{
		name: "under Replace a run by hand replaces the active one, and a scheduled run replaces it", differs: ignoresManual,
		play: func(s *scene) {
			c := s.createCron(policy(batchv1.ReplaceConcurrent))
			j := c.starts(minutesAgo(20))
			c.becomes(lists(j))
			m := c.byHand("by-hand")
			j.gone()
			c.becomes(lists(m))
			c.has(m)
			next := c.starts(minutesAgo(10))
			m.gone()
			c.becomes(lists(next))
			c.has(next)
		},
	},
	{
		name: "a suspended CronJob can be run by hand",
		play: func(s *scene) {
			c := s.createCron(policy(batchv1.ForbidConcurrent))
			m := c.byHand("by-hand")
			m.active(1).succeed()
			c.becomes(lists(), lastSucceeded(m))
			c.has(m)
		},
	},
	{
		name: "a Job that is made from a CronJob but is not controlled by it is none of its runs",
		play: func(s *scene) {
			at := minutesAgo(10)
			c := s.createCron(policy(batchv1.ForbidConcurrent), keeps(0, 0))
			other := s.create(aJob(named("other"), annotated(instantiate, "manual")))
			j := c.starts(at)
			other.active(1).succeed()
			other.becomes(complete())
			c.stays(lists(j), neverSucceeded)
			other.now()
		},
	},
	{
		name: "the next controller resumes runs that are held", differs: ignoresManual, restarts: true,
		play: func(s *scene) {
			c := s.createCron(policy(batchv1.ForbidConcurrent))
			j := c.starts(minutesAgo(10))
			p := j.active(1).run()
			c.becomes(lists(j))
			m := c.byHand("by-hand")
			m.becomes(held)
			s.stopController()
			p.succeed()
			s.startController()
			m.becomes(isResumed)
			m.active(1).succeed()
			c.becomes(lists(), lastSucceeded(m))
		},
	},
}

const instantiate = "cronjob.kubernetes.io/instantiate"

// byHand makes a Job from the CronJob as kubectl create job --from does.
func (c *cron) byHand(name string) *job {
	c.Helper()
	template := c.now().Spec.JobTemplate
	j := &batchv1.Job{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: *template.Spec.DeepCopy()}
	changing(named(name), annotated(instantiate, "manual"), controlledBy(c))(j)
	return c.create(j)
}

func held(j *batchv1.Job) string {
	if _, marked := j.Annotations[heldAnnotation]; !marked || !ptr.Deref(j.Spec.Suspend, false) {
		return "held"
	}
	return ""
}

func isResumed(j *batchv1.Job) string {
	if _, marked := j.Annotations[heldAnnotation]; marked || ptr.Deref(j.Spec.Suspend, false) {
		return "resumed"
	}
	return ""
}
