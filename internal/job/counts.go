package job

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// Counts are increments for metrics. The labels are upstream's.
type Counts struct {
	// PodsSucceeded and PodsFailed are how many pods the counters of the status take.
	PodsSucceeded, PodsFailed int
	// IndexesSucceeded and IndexesFailed are how many indexes the status adds.
	IndexesSucceeded, IndexesFailed int
	// PolicyActions is how often each action of the pod failure policy was taken.
	PolicyActions map[batchv1.PodFailurePolicyAction]int
	// CreationReason is why pods are created: new, recreate_failed or recreate_terminating_or_failed.
	CreationReason string
	// Finished is how the Job ended, nil while it has not.
	Finished *Finish
}

// Finish is how a Job ended.
type Finish struct {
	Succeeded bool
	Reason    string
}

func (c *Counts) policyAction(action batchv1.PodFailurePolicyAction) {
	if action == "" {
		return
	}
	if c.PolicyActions == nil {
		c.PolicyActions = map[batchv1.PodFailurePolicyAction]int{}
	}
	c.PolicyActions[action]++
}

func (c *Counts) creationReason(v view) {
	policy := ptr.Deref(v.job.Spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	switch {
	case v.failed > 0 && policy == batchv1.Failed:
		c.CreationReason = "recreate_failed"
	case v.failed > 0 || len(v.terminating) > 0:
		c.CreationReason = "recreate_terminating_or_failed"
	default:
		c.CreationReason = "new"
	}
}

// compare counts what the next status has more of than the persisted one. Indexes beyond completions are left out of
// both, so that scaling an Indexed Job down makes no count negative.
func (c *Counts) compare(v view, s statusDraft) {
	c.PodsSucceeded = int(s.status.Succeeded - v.job.Status.Succeeded)
	c.PodsFailed = int(s.status.Failed - v.job.Status.Failed)
	if v.indexed() {
		c.IndexesSucceeded = ParseIndexes(s.status.CompletedIndexes, v.completions()).Count() - v.completed.Count()
		c.PodsSucceeded = c.IndexesSucceeded
		c.IndexesFailed = v.failedIndexes.Count() - storedFailedIndexes(v).Count()
	}
	if s.finished {
		end := storedVerdict(v)
		c.Finished = &Finish{Succeeded: end.Success(), Reason: end.Reason}
	}
}
