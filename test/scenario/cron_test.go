package scenario_test

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// cron is a handle on a CronJob of the scene.
//
// Its schedule is once a day, and the time a scenario's choice: so exactly one run is due when it says so, and none by
// itself while it looks.
type cron struct{ object[*batchv1.CronJob] }

// createCron creates the CronJob, suspended unless an option says otherwise, and returns a handle on it.
func (s *scene) createCron(options ...func(*batchv1.CronJob)) *cron {
	s.Helper()
	stored := s.api.BatchV1().CronJobs(s.namespace)
	created, err := stored.Create(s.Context(), aCronJob(options...), metav1.CreateOptions{})
	s.must(err)
	s.sees(created)
	return &cron{object[*batchv1.CronJob]{
		subject: subject{s, "CronJob", created.Name, created.UID}, stored: stored, describe: describeCron, settles: s.settleCrons,
	}}
}

// minutesAgo is a whole minute.
func minutesAgo(n int) time.Time {
	return time.Now().UTC().Truncate(time.Minute).Add(-time.Duration(n) * time.Minute)
}

// due makes the run of this time due and resumes the CronJob. Before the first run it sets the last run to half a day
// earlier.
func (c *cron) due(at time.Time) {
	c.Helper()
	c.update(changing(paused, daily(at)))
	if c.now().Status.LastScheduleTime == nil {
		c.lastRan(at.Add(-12 * time.Hour))
	}
	c.update(going)
}

// starts makes a run due and returns its Job.
func (c *cron) starts(at time.Time) *job {
	c.Helper()
	c.due(at)
	return c.jobOf(at)
}

// runs is starts, and its pod succeeds.
func (c *cron) runs(at time.Time) *job {
	c.Helper()
	j := c.starts(at)
	j.active(1).succeed()
	j.becomes(complete())
	c.becomes(lists())
	return j
}

// fails is starts, and its pod fails.
func (c *cron) fails(at time.Time) *job {
	c.Helper()
	j := c.starts(at)
	j.active(1).fail(1)
	j.becomes(failedBecause(""))
	c.becomes(lists())
	return j
}

// lastRan sets the time of the last run in the status.
func (c *cron) lastRan(at time.Time) {
	c.Helper()
	c.updateStatus(func(o *batchv1.CronJob) { o.Status.LastScheduleTime = ptr.To(metav1.NewTime(at)) })
}

// jobName is that of the Job that runs at a time.
func (c *cron) jobName(at time.Time) string { return fmt.Sprintf("%s-%d", c.name, at.Unix()/60) }

// jobOf waits until the Job of a time exists and the CronJob's status has that time.
func (c *cron) jobOf(at time.Time) *job {
	c.Helper()
	j := c.jobNamed(c.jobName(at))
	c.becomes(lastScheduled(at))
	return j
}

// jobNamed waits for a Job that the CronJob controls.
func (c *cron) jobNamed(name string) (j *job) {
	c.Helper()
	c.eventually(func(h *history) string {
		for _, o := range h.jobsOf(c.uid) {
			if o.Name == name {
				j = c.handle(o)
				return ""
			}
		}
		return fmt.Sprintf("Job %s; there are %v", name, names(h.jobsOf(c.uid)))
	})
	return j
}

// has waits until the CronJob controls exactly these Jobs.
func (c *cron) has(jobs ...*job) {
	c.Helper()
	c.eventually(func(h *history) string {
		got := h.jobsOf(c.uid)
		same := len(got) == len(jobs)
		for _, o := range got {
			same = same && slices.ContainsFunc(jobs, func(j *job) bool { return j.uid == o.UID })
		}
		if same {
			return ""
		}
		return fmt.Sprintf("the Jobs %v of %s; there are %v", namesOf(jobs), c.name, names(got))
	})
}

// jobsOf returns the Jobs that this owner controls, by name. Call it from until only.
func (h *history) jobsOf(owner types.UID) []*batchv1.Job {
	var list []*batchv1.Job
	for _, o := range h.newest {
		if j, is := o.(*batchv1.Job); is && controls(owner, j) {
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b *batchv1.Job) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
	return list
}

func controls(owner types.UID, o metav1.Object) bool {
	ref := metav1.GetControllerOfNoCopy(o)
	return ref != nil && ref.UID == owner
}

func names(list []*batchv1.Job) []string {
	var all []string
	for _, j := range list {
		all = append(all, j.Name)
	}
	return all
}

func namesOf(jobs []*job) []string {
	var all []string
	for _, j := range jobs {
		all = append(all, j.name)
	}
	return all
}

// settleCrons returns when the controller of CronJobs has provably synced all that was written until now: it has since
// started another CronJob's run and observed its end.
func (s *scene) settleCrons() {
	s.Helper()
	s.markers++
	at := minutesAgo(1)
	marker := s.createCron(func(c *batchv1.CronJob) { c.Name = fmt.Sprint(markerPrefix, "cron-", s.markers) })
	marker.runs(at)
}
