package scenario_test

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cronLifeScenarios are about what users and other controllers do to a CronJob and its Jobs, and about a controller
// that was away.
var cronLifeScenarios = []scenario{
	{
		name: "an active Job that a user deletes is reported as missing, and not made again",
		play: func(s *scene) {
			at := minutesAgo(10)
			c := s.createCron()
			j := c.starts(at)
			j.delete(metav1.DeletePropagationBackground)
			j.gone()
			c.becomes(lists(), lastScheduled(at), neverSucceeded)
			c.stays(lists())
			c.has()
			c.says("Normal SuccessfulCreate: Created job "+j.name, "Normal MissingJob: Active job went missing: "+j.name)
		},
	},
	{
		name: "a finished Job that a user deletes is not reported as missing",
		play: func(s *scene) {
			c := s.createCron()
			j := c.runs(minutesAgo(10))
			j.delete(metav1.DeletePropagationBackground)
			j.gone()
			c.stays(lists(), succeededOnce)
			c.has()
			c.tells("SuccessfulCreate", "SawCompletedJob")
		},
	},
	{
		name: "a Job of that name that a user made is left alone, and the next run starts",
		play: func(s *scene) {
			at := minutesAgo(20)
			c := s.createCron()
			other := s.create(aJob(named(c.jobName(at)), suspended))
			c.due(at)
			c.stays(lists())
			s.same("owners", 0, len(other.now().OwnerReferences))
			next := c.starts(minutesAgo(10))
			c.becomes(lists(next))
			c.has(next)
		},
	},
	{
		name:    "a Job that was made before the status could list it is the run of its time",
		differs: "upstream looks for the Job without its namespace, so that it never finds it and is stuck until the next time",
		upstream: func(s *scene) {
			at := minutesAgo(20)
			c := s.createCron()
			forgotten := s.create(aJob(named(c.jobName(at)), controlledBy(c)))
			c.due(at)
			c.tellsOf("UnexpectedJob: Saw a job that the controller did not create or forgot: " + forgotten.name)
			c.stays(lists(), lastScheduled(at.Add(-12*time.Hour)))
			next := c.starts(minutesAgo(10))
			c.becomes(lists(next))
			c.has(forgotten, next)
		},
		play: func(s *scene) {
			at := minutesAgo(10)
			c := s.createCron()
			j := s.create(aJob(named(c.jobName(at)), controlledBy(c)))
			c.due(at)
			c.becomes(lists(j), lastScheduled(at))
			j.active(1).succeed()
			c.becomes(lists(), lastSucceeded(j))
			c.has(j)
		},
	},
	{
		name: "a CronJob deleted in the background takes its Jobs along",
		play: func(s *scene) {
			c := s.createCron()
			done, j := c.runs(minutesAgo(20)), c.starts(minutesAgo(10))
			running := j.active(1).run()
			c.delete(metav1.DeletePropagationBackground)
			c.gone()
			done.gone()
			j.gone()
			running.become("deleted", isDeleted)
			running.fail(143)
			running.gone()
		},
	},
	{
		name: "a CronJob deleted in the foreground goes after its Jobs and their pods",
		play: func(s *scene) {
			c := s.createCron()
			j := c.starts(minutesAgo(10))
			running := j.active(1).run()
			c.delete(metav1.DeletePropagationForeground)
			running.become("deleted", isDeleted)
			s.settle()
			c.now()
			running.fail(143)
			j.gone()
			c.gone()
		},
	},
	{
		name: "a CronJob that is being deleted starts nothing, but records what ends",
		play: func(s *scene) {
			c := s.createCron()
			j := c.starts(minutesAgo(20))
			c.update(func(o *batchv1.CronJob) { o.Finalizers = []string{otherFinalizer} })
			c.delete(metav1.DeletePropagationBackground)
			c.due(minutesAgo(10))
			j.active(1).succeed()
			c.stays(lists(), succeededOnce)
			c.has(j)
			c.update(func(o *batchv1.CronJob) { o.Finalizers = nil })
			c.gone()
		},
	},
	{
		name: "a CronJob deleted with its Jobs orphaned leaves the active run to its end",
		play: func(s *scene) {
			c := s.createCron()
			j := c.starts(minutesAgo(10))
			c.delete(metav1.DeletePropagationOrphan)
			c.gone()
			j.becomes(func(o *batchv1.Job) string {
				if len(o.OwnerReferences) > 0 {
					return "no owner"
				}
				return ""
			})
			j.active(1).succeed()
			j.becomes(complete())
		},
	},
	{
		name: "a CronJob made again under the same name has nothing to do with the Jobs that the old one left",
		play: func(s *scene) {
			old := s.createCron(policy(batchv1.ForbidConcurrent))
			left := old.starts(minutesAgo(20))
			old.delete(metav1.DeletePropagationOrphan)
			old.gone()
			c := s.createCron(policy(batchv1.ForbidConcurrent), keeps(0, 0))
			j := c.starts(minutesAgo(10))
			c.stays(lists(j))
			left.active(1).succeed()
			left.becomes(complete())
			c.stays(lists(j), neverSucceeded)
			c.has(j)
			left.now()
		},
	},
	{
		name:     "the end of a run while no controller runs is recorded by the next one",
		restarts: true,
		alone:    true,
		play: func(s *scene) {
			c := s.createCron()
			j := c.starts(minutesAgo(20))
			p := j.active(1).run()
			c.becomes(lists(j))
			s.stopController()
			p.succeed()
			s.startController()
			c.becomes(lists(), lastSucceeded(j))
			c.has(j)
		},
	},
	{
		name:     "a run that became due while the controller was away starts once",
		restarts: true,
		alone:    true,
		play: func(s *scene) {
			at := minutesAgo(10)
			c := s.createCron()
			first := c.runs(minutesAgo(20))
			s.stopController()
			c.due(at)
			s.startController()
			second := c.jobOf(at)
			c.stays(lists(second), lastScheduled(at))
			s.restartController()
			c.stays(lists(second), lastScheduled(at))
			c.has(first, second)
		},
	},
	{
		name:     "a Job that was deleted while the controller was away is reported as missing",
		restarts: true,
		alone:    true,
		play: func(s *scene) {
			c := s.createCron()
			j := c.starts(minutesAgo(10))
			c.becomes(lists(j))
			s.stopController()
			j.delete(metav1.DeletePropagationBackground)
			s.startController()
			j.gone()
			c.becomes(lists())
			c.has()
			c.tellsOf("MissingJob: Active job went missing: " + j.name)
		},
	},
	{
		name: "a run does not start twice if a user empties the list of active Jobs",
		play: func(s *scene) {
			at := minutesAgo(10)
			c := s.createCron(policy(batchv1.ForbidConcurrent))
			j := c.starts(at)
			c.becomes(lists(j))
			c.updateStatus(func(o *batchv1.CronJob) { o.Status.Active = nil })
			c.stays(lastScheduled(at))
			c.has(j)
		},
	},
	{
		name: "a reference to a Job that never existed is dropped",
		play: func(s *scene) {
			c := s.createCron(policy(batchv1.ForbidConcurrent))
			c.updateStatus(func(o *batchv1.CronJob) {
				o.Status.Active = []corev1.ObjectReference{{Kind: "Job", APIVersion: "batch/v1", Namespace: s.namespace, Name: string(noJob), UID: noJob}}
			})
			c.becomes(lists())
			j := c.starts(minutesAgo(10))
			c.becomes(lists(j))
			c.tellsOf("MissingJob: Active job went missing: " + string(noJob))
		},
	},
}

// controlledBy makes the Job one that the CronJob controls.
func controlledBy(c *cron) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(c.now(), batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	}
}
