package scheduledjob

import (
	"strings"

	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

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
