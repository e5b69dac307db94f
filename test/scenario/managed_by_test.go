package scenario_test

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	controller "github.com/stint-dev/stint/internal/controller/job"
)

func managedBy(who string) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.ManagedBy = &who }
}

const anotherManager = "example.com/manager"

// managedByScenarios are about which controller manages a Job.
var managedByScenarios = []scenario{
	{
		name: "a Job of another manager is left alone",
		play: func(s *scene) {
			j := s.create(aJob(managedBy(anotherManager)))
			j.update(workers(3))
			j.suspend()
			j.resume()
			j.stays(equal("status", true, untouched))
			j.tells()
			j.active(0)
		},
	},
	{
		name: "pods of another manager's Job keep their finalizer, whatever becomes of them",
		play: func(s *scene) {
			j := s.create(aJob(managedBy(anotherManager)))
			p := j.addOwned()
			p.succeed()
			p.delete()
			j.stays(equal("status", true, untouched))
			p.become("held", hasFinalizer)
			s.must(p[0].update(func(p *corev1.Pod) { p.Finalizers = nil }))
			p.gone()
		},
	},
	{
		name: "an orphan is not adopted for another manager's Job",
		play: func(s *scene) {
			j := s.create(aJob(managedBy(anotherManager)))
			p := j.addPod("orphan", "")
			j.stays(equal("status", true, untouched))
			p.become("an orphan", func(p *corev1.Pod) bool { return len(p.OwnerReferences)+len(p.Finalizers) == 0 })
		},
	},
	{
		name: "a Job of the name that Kubernetes' own controller has is run",
		play: func(s *scene) {
			j := s.create(aJob(managedBy(batchv1.JobControllerName)))
			j.active(1).succeed()
			j.becomes(exactly("succeeded=1 " + allDone))
		},
	},
	{
		name: "a Job that names Stint is Stint's",
		play: func(s *scene) {
			j := s.create(aJob(managedBy(controller.ManagedBy)))
			j.active(1).succeed()
			j.becomes(exactly("succeeded=1 " + allDone))
		},
		differs: "upstream leaves alone a Job that names another controller in spec.managedBy",
		upstream: func(s *scene) {
			s.create(aJob(managedBy(controller.ManagedBy))).stays(equal("status", true, untouched))
		},
	},
	{
		name: "the manager of a Job does not change",
		play: func(s *scene) {
			j := s.create(aJob(managedBy(anotherManager)))
			j.refuses(managedBy(batchv1.JobControllerName), "spec.managedBy", "field is immutable")
			j.refuses(func(j *batchv1.Job) { j.Spec.ManagedBy = nil }, "spec.managedBy", "field is immutable")
			own := s.create(aJob(named("own")))
			own.refuses(managedBy(anotherManager), "spec.managedBy", "field is immutable")
		},
	},
	{
		name: "a Job of the same name may have another manager next time",
		play: func(s *scene) {
			own := s.create(aJob())
			own.active(1)
			// Upstream applies the expectations of the old Job to a new one of that name.
			own.becomes(active(1))
			own.delete(metav1.DeletePropagationBackground)
			own.gone()
			theirs := s.create(aJob(managedBy(anotherManager)))
			theirs.stays(equal("status", true, untouched))
			theirs.delete(metav1.DeletePropagationBackground)
			theirs.gone()
			again := s.create(aJob())
			again.active(1).succeed()
			again.becomes(exactly("succeeded=1 " + allDone))
		},
	},
	{
		name: "another manager may report the whole life of a Job",
		play: func(s *scene) {
			j := s.create(aJob(managedBy(anotherManager)))
			p := j.addOwned()
			p.run()
			now := metav1.Now()
			set := func(change func(*batchv1.JobStatus)) {
				j.updateStatus(func(j *batchv1.Job) { change(&j.Status) })
			}
			set(func(s *batchv1.JobStatus) { s.StartTime, s.Active, s.Ready = &now, 1, ptr.To[int32](1) })
			p.succeed()
			set(func(s *batchv1.JobStatus) {
				s.Active, s.Ready, s.Succeeded = 0, nil, 1
				s.Conditions = append(s.Conditions, trueCondition(batchv1.JobSuccessCriteriaMet))
			})
			s.must(p[0].update(func(p *corev1.Pod) { p.Finalizers = nil }))
			set(func(s *batchv1.JobStatus) {
				s.CompletionTime = &now
				s.Conditions = append(s.Conditions, trueCondition(batchv1.JobComplete))
			})
			j.becomes(succeeded(1), complete())
		},
	},
	{
		name: "an impossible status of another manager is refused",
		play: func(s *scene) {
			j := s.create(aJob(managedBy(anotherManager)))
			j.becomes(unfinished())
			for _, nonsense := range nonsensicalStatuses {
				j.refusesStatus(nonsense.change, nonsense.because)
			}
		},
	},
}

func untouched(s batchv1.JobStatus) bool { return inWords(s) == "ready=-1 terminating=-1 unstarted" }

func trueCondition(kind batchv1.JobConditionType) batchv1.JobCondition {
	return batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue}
}

// nonsensicalStatuses have one mistake each, made in an empty status.
var nonsensicalStatuses = []struct {
	because string
	change  func(*batchv1.JobStatus)
}{
	{"status.conditions", func(s *batchv1.JobStatus) { // complete without SuccessCriteriaMet
		s.StartTime, s.CompletionTime = ptr.To(metav1.Now()), ptr.To(metav1.Now())
		s.Conditions = []batchv1.JobCondition{trueCondition(batchv1.JobComplete)}
	}},
	{"status.conditions", func(s *batchv1.JobStatus) { // failed without FailureTarget
		s.StartTime = ptr.To(metav1.Now())
		s.Conditions = []batchv1.JobCondition{trueCondition(batchv1.JobFailed)}
	}},
	{"status.conditions", func(s *batchv1.JobStatus) { // both verdicts
		s.StartTime = ptr.To(metav1.Now())
		s.Conditions = []batchv1.JobCondition{trueCondition(batchv1.JobFailureTarget), trueCondition(batchv1.JobSuccessCriteriaMet)}
	}},
	{"status.completionTime", func(s *batchv1.JobStatus) {
		s.StartTime, s.CompletionTime = ptr.To(metav1.Now()), ptr.To(metav1.Now())
	}},
	{"status.active", func(s *batchv1.JobStatus) { s.Active = -1 }},
	{"status.ready", func(s *batchv1.JobStatus) { s.Active, s.Ready = 1, ptr.To[int32](2) }},
	{"status.completedIndexes", func(s *batchv1.JobStatus) { s.CompletedIndexes = "0" }},
	{"status.failedIndexes", func(s *batchv1.JobStatus) { s.FailedIndexes = ptr.To("0") }},
	{"status.active", func(s *batchv1.JobStatus) { // a finished Job
		s.StartTime, s.Active = ptr.To(metav1.Now()), 1
		s.Conditions = []batchv1.JobCondition{trueCondition(batchv1.JobFailureTarget), trueCondition(batchv1.JobFailed)}
	}},
}

func (j *job) refusesStatus(change func(*batchv1.JobStatus), because string) {
	j.Helper()
	o := j.now().DeepCopy()
	change(&o.Status)
	_, err := j.api.BatchV1().Jobs(j.namespace).UpdateStatus(j.Context(), o, metav1.UpdateOptions{})
	j.refused(err, because)
}

// addOwned creates a pod of the Job as its manager would.
func (j *job) addOwned() podList {
	j.Helper()
	return j.addPodWith("theirs", "", func(p *corev1.Pod) {
		p.Finalizers = []string{batchv1.JobTrackingFinalizer}
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(j.now(), batchv1.SchemeGroupVersion.WithKind("Job"))}
	})
}
