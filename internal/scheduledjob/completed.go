package scheduledjob

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// ended is the condition that tells the end of a Job; nil if it goes on.
func ended(job *batchv1.Job) *batchv1.JobCondition {
	for i, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			return &job.Status.Conditions[i]
		}
	}
	return nil
}

// fail ends a pending run that cannot start.
func (s *draft) fail(e stintv1.Execution, reason, message string) {
	s.status.PendingExecutions = without(s.status.PendingExecutions, e.Tag)
	e.CompletedAt, e.Success = written(s.now), ptr.To(false)
	e.Reason, e.Message = reason, shortened(message)
	e.Overrides = KeptOverrides(e.Overrides)
	s.complete(e)
}

// complete lists a run that has ended.
func (s *draft) complete(e stintv1.Execution) {
	e.Status = stintv1.ExecutionCompleted
	s.status.CompletedExecutions = append(s.status.CompletedExecutions, e)
	if *e.Success {
		if last := s.status.LastSuccessfulTime; last == nil || last.Before(e.CompletedAt) {
			s.status.LastSuccessfulTime = e.CompletedAt
		}
		s.tell(ReasonSawCompletedRun, "Saw completed run %s, success", e.Tag)
		return
	}
	s.warn(ReasonSawCompletedRun, "Saw completed run %s, failed: %s", e.Tag, because(e))
	s.block(e)
}

// maxMessage bounds what is written of the words of others.
const maxMessage = 1024

func shortened(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + " …"
}
