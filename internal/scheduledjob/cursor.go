package scheduledjob

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// cursor is the last due time that has been handled, status.lastScheduleTime; nil before the first.
type cursor struct{ last *metav1.Time }

func (c *cursor) time() time.Time {
	if c.last == nil {
		return time.Time{}
	}
	return c.last.Time
}

// pass moves the cursor forward, never back.
func (c *cursor) pass(due time.Time) {
	if due.After(c.time()) {
		c.last = metaTime(due)
	}
}

// before reports whether a run's due time has not been handled yet.
func (c *cursor) before(e stintv1.Execution) bool {
	return e.DueAt != nil && e.DueAt.After(c.time())
}
