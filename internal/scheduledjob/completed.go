package scheduledjob

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// completed are the runs that have ended, as far as they are remembered, in the order in which that was seen.
type completed struct {
	list               []stintv1.Execution
	lastSuccessfulTime *metav1.Time
	gate               *gate
	events             *events
}

// add lists a run that has ended. One that failed may block the schedule.
func (c *completed) add(e stintv1.Execution) {
	e.Status = stintv1.ExecutionCompleted
	c.list = append(c.list, e)
	if *e.Success {
		if last := c.lastSuccessfulTime; last == nil || last.Before(e.CompletedAt) {
			c.lastSuccessfulTime = e.CompletedAt
		}
		c.events.addEvent(ReasonSawCompletedRun, "Saw completed run %s, success", e.Tag)
		return
	}
	c.events.addWarning(ReasonSawCompletedRun, "Saw completed run %s, failed: %s", e.Tag, because(e))
	c.gate.block(e)
}

// maxCompletedSize bounds the history in bytes: an object has room for a megabyte and a half.
const maxCompletedSize = 1 << 19

// trim forgets the oldest runs that ended, but none whose Job could be taken for a new one.
func (c *completed) trim(limit int, due cursor) {
	list, size := c.list, 0
	for _, e := range list {
		size += sizeOf(e)
	}
	for len(list) > 0 && (len(list) > limit || size > maxCompletedSize) && !due.before(list[0]) {
		size -= sizeOf(list[0])
		list = list[1:]
	}
	c.list = slices.Clone(list)
}

// maxMessage bounds what is written of the words of others.
const maxMessage = 1024

func shortened(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + " …"
}
