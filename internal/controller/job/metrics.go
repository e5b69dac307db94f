package job

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podstatus"
)

// metrics carry kube-controller-manager's names and labels, so that its dashboards show this controller too.
type metrics struct {
	syncSeconds     *prometheus.HistogramVec
	syncs           *prometheus.CounterVec
	jobsFinished    *prometheus.CounterVec
	podsFinished    *prometheus.CounterVec
	podsCreated     *prometheus.CounterVec
	indexesFinished *prometheus.CounterVec
	policyActions   *prometheus.CounterVec
	finalizers      *prometheus.CounterVec
	externalJobs    *prometheus.CounterVec
	// failedPodsRemoved is no metric of kube-controller-manager.
	failedPodsRemoved prometheus.Counter
	// succeededPodsRemoved and resultsLost are none either.
	succeededPodsRemoved prometheus.Counter
	resultsLost          prometheus.Counter
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "job_controller", Name: name, Help: help}, labels)
	}
	m := &metrics{
		syncSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "job_controller", Name: "job_sync_duration_seconds", Help: "How long a sync of a Job took.",
			Buckets: prometheus.ExponentialBuckets(0.004, 2, 15),
		}, []string{"completion_mode", "result", "action"}),
		syncs:           counter("job_syncs_total", "Syncs of Jobs.", "completion_mode", "result", "action"),
		jobsFinished:    counter("jobs_finished_total", "Jobs that ended.", "completion_mode", "result", "reason"),
		podsFinished:    counter("job_pods_finished_total", "Pods that ended and were counted.", "completion_mode", "result"),
		podsCreated:     counter("job_pods_creation_total", "Pods created, by reason and result.", "reason", "status"),
		indexesFinished: counter("job_finished_indexes_total", "Indexes that ended.", "status", "backoffLimit"),
		policyActions: counter("pod_failures_handled_by_failure_policy_total",
			"Failed pods that a rule of a pod failure policy matched.", "action"),
		finalizers: counter("terminated_pods_tracking_finalizer_total",
			"Terminated pods that got or lost the finalizer batch.kubernetes.io/job-tracking.", "event"),
		externalJobs: counter("jobs_by_external_controller_total", "Jobs left to another controller.", "controller_name"),
		failedPodsRemoved: prometheus.NewCounter(prometheus.CounterOpts{Namespace: "stint", Name: "job_failed_pods_removed_total",
			Help: "Failed pods that were deleted as their Job keeps no more of them."}),
		succeededPodsRemoved: prometheus.NewCounter(prometheus.CounterOpts{Namespace: "stint", Name: "job_succeeded_pods_removed_total",
			Help: "Succeeded pods that were deleted once they were counted, as there are enough terminated ones."}),
		resultsLost: prometheus.NewCounter(prometheus.CounterOpts{Namespace: "stint", Name: "job_results_lost_total",
			Help: "Pods whose result was not kept, as the API server does not take ResultSlices."}),
	}
	if r == nil {
		return m, nil
	}
	return m, errors.Join(r.Register(m.syncSeconds), r.Register(m.syncs), r.Register(m.jobsFinished),
		r.Register(m.podsFinished), r.Register(m.podsCreated), r.Register(m.indexesFinished),
		r.Register(m.policyActions), r.Register(m.finalizers), r.Register(m.externalJobs),
		r.Register(m.failedPodsRemoved), r.Register(m.succeededPodsRemoved), r.Register(m.resultsLost))
}

// synced counts one sync of a Job.
func (m *metrics) synced(job *batchv1.Job, action core.Action, err error, seconds float64) {
	result := "success"
	if err != nil {
		result = "error"
	}
	m.syncSeconds.WithLabelValues(mode(job), result, string(action)).Observe(seconds)
	m.syncs.WithLabelValues(mode(job), result, string(action)).Inc()
}

// counted adds the counts of a decision, once its status is stored.
func (m *metrics) counted(job *batchv1.Job, c core.Counts) {
	add(m.podsFinished, c.PodsSucceeded, mode(job), "succeeded")
	add(m.podsFinished, c.PodsFailed, mode(job), "failed")
	limit := "global"
	if job.Spec.BackoffLimitPerIndex != nil {
		limit = "perIndex"
	}
	add(m.indexesFinished, c.IndexesSucceeded, "succeeded", limit)
	add(m.indexesFinished, c.IndexesFailed, "failed", limit)
	if c.Finished != nil {
		result := "failed"
		if c.Finished.Succeeded {
			result = "succeeded"
		}
		m.jobsFinished.WithLabelValues(mode(job), result, c.Finished.Reason).Inc()
	}
}

// countPolicyActions counts the actions of the pod failure policy. They are not part of counted, as ignored failures
// change no status.
func (m *metrics) countPolicyActions(actions map[batchv1.PodFailurePolicyAction]int) {
	for action, n := range actions {
		add(m.policyActions, n, string(action))
	}
}

func (m *metrics) created(reason string, succeeded, failed int) {
	add(m.podsCreated, succeeded, reason, "succeeded")
	add(m.podsCreated, failed, reason, "failed")
}

// finalizerChanged compares two versions of a pod; nil is none.
func (m *metrics) finalizerChanged(old, now *corev1.Pod) {
	was, is := endedWithFinalizer(old), endedWithFinalizer(now)
	switch {
	case is && !was:
		m.finalizers.WithLabelValues("add").Inc()
	case was && !is:
		m.finalizers.WithLabelValues("delete").Inc()
	}
}

func endedWithFinalizer(p *corev1.Pod) bool {
	return p != nil && podstatus.IsTerminated(p) && core.HasFinalizer(p)
}

func add(c *prometheus.CounterVec, n int, labels ...string) {
	if n > 0 {
		c.WithLabelValues(labels...).Add(float64(n))
	}
}

func mode(job *batchv1.Job) string { return string(core.ModeOf(job)) }
