package scheduledjob

import (
	"errors"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// scene is a ScheduledJob about which a test decides again and again. Jobs that are created run until the test ends them.
type scene struct {
	t    *testing.T
	sj   *stintv1.ScheduledJob
	jobs []*batchv1.Job
	obs  Observation
	d    Decision
}

func newScene(t *testing.T, sj *stintv1.ScheduledJob) *scene { return &scene{t: t, sj: sj} }

// step decides this many seconds after noon, creates all Jobs, and expects this summary of the decision.
func (s *scene) step(seconds int, want string) *scene {
	s.t.Helper()
	s.decide(seconds)
	outcomes := created(s.d, at(seconds))
	for _, o := range outcomes {
		s.jobs = append(s.jobs, o.Job)
	}
	return s.write(outcomes, want)
}

// stepWith decides, and expects this summary when the creations have these outcomes.
func (s *scene) stepWith(seconds int, want string, outcomes ...Outcome) *scene {
	s.t.Helper()
	s.decide(seconds)
	return s.write(outcomes, want)
}

// lose decides and creates all Jobs, but does not write the status.
func (s *scene) lose(seconds int) *scene {
	s.decide(seconds)
	for _, o := range created(s.d, at(seconds)) {
		s.jobs = append(s.jobs, o.Job)
	}
	return s
}

func (s *scene) decide(seconds int) {
	s.obs = observe(s.sj.DeepCopy(), seconds, s.jobs...)
	s.obs.Template = s.sj.Spec.Template
	s.d = Decide(s.obs)
}

func (s *scene) write(outcomes []Outcome, want string) *scene {
	s.t.Helper()
	if got := summary(s.d, outcomes); got != want {
		s.t.Errorf("at %s\n got %s\nwant %s", short(dueTag(s.obs.Now)), got, want)
	}
	s.sj.Status = s.d.Status(outcomes)
	return s
}

// wantEvents expects these events of the last decision.
func (s *scene) wantEvents(outcomes []Outcome, want string) *scene {
	s.t.Helper()
	if got := eventLines(s.d.Events(outcomes)); got != want {
		s.t.Errorf("at %s the events are\n%s\nwant\n%s", short(dueTag(s.obs.Now)), got, want)
	}
	return s
}

// end changes the run's Job by end.
func (s *scene) end(tag string, end func(*batchv1.Job)) *scene {
	for i, job := range s.jobs {
		if job.Name == JobName(s.sj.Name, tag) {
			s.jobs[i] = job.DeepCopy()
			end(s.jobs[i])
		}
	}
	return s
}

// gone removes the run's Job.
func (s *scene) gone(tag string) *scene {
	for i, job := range s.jobs {
		if job.Name == JobName(s.sj.Name, tag) {
			s.jobs = append(s.jobs[:i:i], s.jobs[i+1:]...)
			return s
		}
	}
	return s
}

// edit changes the spec, or what users may change in the status.
func (s *scene) edit(change change) *scene {
	s.sj = s.sj.DeepCopy()
	change(s.sj)
	return s
}

// newSpec is an edit of the spec.
func (s *scene) newSpec(change change) *scene {
	s.edit(change)
	s.sj.Generation++
	return s
}

var jobs = schema.GroupResource{Group: "batch", Resource: "jobs"}

var (
	forbidden = Outcome{Err: apierrors.NewForbidden(jobs, "report", errors.New("quota"))}
	taken     = Outcome{Err: apierrors.NewAlreadyExists(jobs, "report")}
	notTried  = Outcome{}
)

func invalid() Outcome {
	return Outcome{Err: apierrors.NewInvalid(schema.GroupKind{Group: "batch", Kind: "Job"}, "report", nil)}
}

func TestDecide(t *testing.T) {
	tests := map[string]func(t *testing.T){
		"a run starts when it is due, runs, and has ended": func(t *testing.T) {
			newScene(t, every(60)).
				step(0, "create +0 | running +0 | count 1 | last +0 | next +60").
				wantEvents(nil, "").
				end(tagAt(0), completeAt(7)).
				step(8, "completed +0:ok | count 1 | last +0 | next +60").
				wantEvents(nil, "Normal SawCompletedRun: Saw completed run 20260301-120000, success").
				step(9, "completed +0:ok | count 1 | last +0 | next +60").
				wantEvents(nil, "")
		},
		"a schedule that starts later waits for its start": func(t *testing.T) {
			newScene(t, aScheduledJob(timed("R2/T12:00:30/PT60S"))).
				step(0, "next +30").
				step(29, "next +30").
				step(30, "create +30 | running +30 | count 1 | last +30 | next +90").
				step(90, "create +90 | running +30 +90 | count 2 | last +90").
				step(900, "running +30 +90 | count 2 | last +90")
		},
		"Rn with a start in the past has used up the times that have passed": func(t *testing.T) {
			newScene(t, aScheduledJob(timed("R3/2026-03-01T11:59:00Z/PT60S"))).
				step(0, "next +60").
				step(60, "create +60 | running +60 | count 1 | last +60")
		},
		"without a schedule it runs on demand only": func(t *testing.T) {
			newScene(t, aScheduledJob()).step(0, "").edit(requested("now")).
				step(5, "create now | running now | count 1").
				wantEvents(nil, "")
		},
		"of the due times that were missed only the latest runs": func(t *testing.T) {
			newScene(t, every(60)).
				step(200, "create +180 | running +180 | count 1 | skipped 3 | last +180 | next +240").
				wantEvents(nil, "Normal RunsSkipped: Skipped 3 runs that were due from 2026-03-01T12:00:00Z to 2026-03-01T12:02:00Z")
		},
		"a single one that is skipped has an event of its own": func(t *testing.T) {
			newScene(t, every(60)).
				step(60, "create +60 | running +60 | count 1 | skipped 1 | last +60 | next +120").
				wantEvents(nil, "Normal RunsSkipped: Skipped the run that was due at 2026-03-01T12:00:00Z")
		},
		"with skipOutdated false all that were missed run, in order": func(t *testing.T) {
			newScene(t, every(60, keepingOutdated)).
				step(130, "create +0 +60 +120 | running +0 +60 +120 | count 3 | last +120 | next +180")
		},
		"runs that may not be concurrent queue, and the latest replaces those before it": func(t *testing.T) {
			newScene(t, every(60, oneAtATime)).
				step(0, "create +0 | running +0 | count 1 | last +0 | next +60").
				step(60, "pending +60:Queued | running +0 | count 1 | last +60 | next +120").
				wantEvents(nil, "Normal RunQueued: Run 20260301-120100 waits for run 20260301-120000").
				step(61, "pending +60:Queued | running +0 | count 1 | last +60 | next +120").
				wantEvents(nil, "").
				step(120, "pending +120:Queued | running +0 | count 1 | skipped 1 | last +120 | next +180").
				end(tagAt(0), completeAt(130)).
				step(130, "create +120 | running +120 | completed +0:ok | count 2 | skipped 1 | last +120 | next +180")
		},
		"with skipOutdated false the queue is first in, first out": func(t *testing.T) {
			newScene(t, every(60, oneAtATime, keepingOutdated)).
				step(0, "create +0 | running +0 | count 1 | last +0 | next +60").
				step(60, "pending +60:Queued | running +0 | count 1 | last +60 | next +120").
				edit(requested("now")).
				step(120, "pending +60:Queued now:Queued +120:Queued | running +0 | count 1 | last +120 | next +180").
				end(tagAt(0), completeAt(121)).
				step(121, "create +60 | pending now:Queued +120:Queued | running +60 | completed +0:ok | count 2 | last +120 | next +180").
				gone(tagAt(0)).end(tagAt(60), completeAt(122)).
				step(122, "create now | pending +120:Queued | running now | completed +0:ok +60:ok | count 3 | last +120 | next +180")
		},
		"a status that got lost after a creation is made up for": func(t *testing.T) {
			newScene(t, every(60)).lose(0).
				step(1, "running +0 | count 1 | last +0 | next +60").
				wantEvents(nil, "Normal SuccessfulCreate: Created job report-20260301-120000")
		},
		"a run that ended before its start could be written is counted once": func(t *testing.T) {
			newScene(t, every(60)).lose(0).end(tagAt(0), completeAt(3)).
				step(61, "create +60 | running +60 | completed +0:ok | count 2 | last +60 | next +120").
				step(62, "running +60 | completed +0:ok | count 2 | last +60 | next +120")
		},
		"what has started is not skipped for a later one": func(t *testing.T) {
			newScene(t, every(60, oneAtATime)).lose(0).
				step(125, "pending +120:Queued | running +0 | count 1 | skipped 1 | last +120 | next +180").
				wantEvents(nil, "Normal SuccessfulCreate: Created job report-20260301-120000\n"+
					"Normal RunsSkipped: Skipped the run that was due at 2026-03-01T12:01:00Z\n"+
					"Normal RunQueued: Run 20260301-120200 waits for run 20260301-120000")
		},
		"a pending run whose Job exists runs": func(t *testing.T) {
			newScene(t, aScheduledJob(requested("now"))).lose(0).
				step(1, "running now | count 1")
		},
		"a creation that fails is tried again": func(t *testing.T) {
			newScene(t, every(60)).
				stepWith(0, "create +0 | pending +0:FailedCreate | last +0 | next +60", forbidden).
				wantEvents([]Outcome{forbidden}, `Warning FailedCreate: Error creating job report-20260301-120000: jobs.batch "report" is forbidden: quota`).
				step(1, "create +0 | running +0 | count 1 | last +0 | next +60")
		},
		"a creation that was not tried changes nothing": func(t *testing.T) {
			newScene(t, every(60)).
				stepWith(0, "create +0 | pending +0 | last +0 | next +60", notTried).
				stepWith(0, "create +0 | pending +0 | last +0 | next +60")
		},
		"a run whose Job is refused as invalid has ended, and the next one has its turn": func(t *testing.T) {
			newScene(t, aScheduledJob(oneAtATime, requested("a"), requested("b"))).
				stepWith(0, "create a | pending b | completed a:Invalid", invalid()).
				step(1, "create b | running b | completed a:Invalid | count 1")
		},
		"a run whose Job has the name of another Job has failed": func(t *testing.T) {
			newScene(t, every(60, blocking)).
				stepWith(0, "create +0 | completed +0:AlreadyExists | last +0 | next +60", taken).
				wantEvents([]Outcome{taken}, `Warning FailedCreate: Error creating job report-20260301-120000: jobs.batch "report" already exists`+"\n"+
					`Warning SawCompletedRun: Saw completed run 20260301-120000, failed: AlreadyExists: jobs.batch "report" already exists`+"\n"+
					`Warning Blocked: Schedule blocked: run 20260301-120000 failed: AlreadyExists: jobs.batch "report" already exists`).
				step(60, "pending +60:Blocked | completed +0:AlreadyExists | last +60 | next +120")
		},
		"a Job of another owner is no run": func(t *testing.T) {
			s := newScene(t, every(60))
			other := jobOf(s.sj, tagAt(0), 0)
			other.OwnerReferences[0].UID = "another"
			s.jobs = append(s.jobs, other)
			s.stepWith(0, "create +0 | pending +0 | last +0 | next +60")
		},
		"a running execution whose Job is gone has failed": func(t *testing.T) {
			newScene(t, every(60, blocking)).
				step(0, "create +0 | running +0 | count 1 | last +0 | next +60").
				gone(tagAt(0)).
				step(5, "completed +0:JobDeleted | count 1 | last +0 | next +60").
				wantEvents(nil, "Warning SawCompletedRun: Saw completed run 20260301-120000, failed: JobDeleted: the Job was deleted before it finished\n"+
					"Warning Blocked: Schedule blocked: run 20260301-120000 failed: JobDeleted: the Job was deleted before it finished")
		},
		"a Job that is being deleted runs until it is gone": func(t *testing.T) {
			newScene(t, every(60, oneAtATime)).
				step(0, "create +0 | running +0 | count 1 | last +0 | next +60").
				end(tagAt(0), func(job *batchv1.Job) { job.DeletionTimestamp = &metav1.Time{Time: at(1)} }).
				step(60, "pending +60:Queued | running +0 | count 1 | last +60 | next +120")
		},
		"a ScheduledJob that is being deleted is left alone": func(t *testing.T) {
			newScene(t, every(60, func(sj *stintv1.ScheduledJob) { sj.DeletionTimestamp = &metav1.Time{Time: at(0)} })).
				step(200, "").wantEvents(nil, "")
		},
		"a clock that is set back makes nothing due twice": func(t *testing.T) {
			newScene(t, every(60)).
				step(60, "create +60 | running +60 | count 1 | skipped 1 | last +60 | next +120").
				step(-3600, "running +60 | count 1 | skipped 1 | last +60 | next +120").
				step(60, "running +60 | count 1 | skipped 1 | last +60 | next +120").
				step(120, "create +120 | running +60 +120 | count 2 | skipped 1 | last +120 | next +180")
		},
		"a Job that has ended is listed with its exit codes": func(t *testing.T) {
			s := newScene(t, every(60)).step(0, "create +0 | running +0 | count 1 | last +0 | next +60").end(tagAt(0), failedAt(9))
			s.decide(10)
			s.obs.ExitCodes = map[types.UID][]stintv1.ExitCode{"uid-" + types.UID(tagAt(0)): {{Code: 3, Pods: 1, Indexes: "0"}}}
			e := Decide(s.obs).Status(nil).CompletedExecutions[0]
			if len(e.ExitCodes) != 1 || e.ExitCodes[0].Code != 3 || *e.Success || e.Reason != "FailedIndexes" || e.Message != "Job has failed indexes" {
				t.Errorf("says %+v", e)
			}
			if !e.CompletedAt.Time.Equal(at(9)) || !e.StartedAt.Time.Equal(at(0)) || !e.CreatedAt.Time.Equal(at(0)) || !e.DueAt.Time.Equal(at(0)) {
				t.Errorf("says %+v", e)
			}
		},
		"numbers that validation refuses do no harm": func(t *testing.T) {
			newScene(t, every(60, func(sj *stintv1.ScheduledJob) {
				sj.Spec.PodCount, sj.Spec.MaxRestart = ptr.To[int32](0), ptr.To[int32](-1)
				sj.Spec.SuccessfulJobsHistoryLimit, sj.Spec.CompletedExecutionsHistoryLimit = ptr.To[int32](-1), ptr.To[int32](-1)
			})).
				step(0, "create +0 | running +0 | count 1 | last +0 | next +60").
				end(tagAt(0), completeAt(1)).
				step(2, "delete +0 | count 1 | last +0 | next +60")
		},
	}
	for name, test := range tests {
		t.Run(name, test)
	}
}
