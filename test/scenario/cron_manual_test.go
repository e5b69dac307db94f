package scenario_test

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const heldAnnotation = "stint.dev/held-by-concurrency-policy"

// strangers is how upstream treats Jobs that are made by hand.
const strangers = "upstream takes a Job that is made from a CronJob by hand for a stranger: it is not listed, and no concurrency policy holds for it"

// cronManualScenarios are about Jobs that are made from a CronJob by hand, as kubectl create job --from does.
var cronManualScenarios = []scenario{
	{
		name: "a run by hand is listed while it is active, and its success noted", differs: strangers,
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
		name: "under Allow a run by hand starts beside another", differs: strangers,
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
		name: "under Forbid no run starts beside one by hand, but when that has ended", differs: strangers,
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
		name: "under Forbid a run by hand is held while another is active, and then released", differs: strangers,
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
			m.becomes(released)
			c.becomes(lists(m))
			c.tellsOf("RunReleased")
			m.active(1).succeed()
			c.becomes(lists(), lastSucceeded(m))
			c.has(j, m)
		},
	},
	{
		name: "held runs are released one after the other as they came, before a scheduled run starts", differs: strangers,
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
			first.becomes(released)
			c.stays(lists(first))
			second.becomes(held)
			first.active(1).succeed()
			second.becomes(released)
			c.stays(lists(second))
			c.has(j, first, second)
			second.active(1).succeed()
			next := c.jobOf(at)
			c.becomes(lists(next))
		},
	},
	{
		name: "a held run that is deleted holds nobody up", differs: strangers,
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
		name: "held runs are released when the policy becomes Allow", differs: strangers,
		play: func(s *scene) {
			c := s.createCron(policy(batchv1.ForbidConcurrent))
			j := c.starts(minutesAgo(10))
			c.becomes(lists(j))
			m := c.byHand("by-hand")
			m.becomes(held)
			c.update(policy(batchv1.AllowConcurrent))
			m.becomes(released)
			m.active(1)
			c.becomes(lists(j, m))
		},
	},
	{
		name: "under Replace a run by hand replaces the active one, and a scheduled one it", differs: strangers,
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
			stranger := s.create(aJob(named("stranger"), annotated(instantiate, "manual")))
			j := c.starts(at)
			stranger.active(1).succeed()
			stranger.becomes(complete())
			c.stays(lists(j), neverSucceeded)
			stranger.now()
		},
	},
	{
		name: "the next controller releases runs that are held", differs: strangers, restarts: true,
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
			m.becomes(released)
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

func released(j *batchv1.Job) string {
	if _, marked := j.Annotations[heldAnnotation]; marked || ptr.Deref(j.Spec.Suspend, false) {
		return "released"
	}
	return ""
}
