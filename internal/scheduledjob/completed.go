package scheduledjob

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// completed are the finished runs that the status still lists, in the order in which their ends were observed.
type completed struct {
	list               []stintv1.Execution
	lastSuccessfulTime *metav1.Time
	gate               *gate
	events             *events
}

// add lists a finished run. A failed one may block the schedule.
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
	c.events.addWarning(ReasonSawCompletedRun, "Saw completed run %s, failed: %s", e.Tag, failureText(e))
	c.gate.block(e)
}

// maxCompletedSize bounds the list in bytes: an object may have about 1.5 MB.
const maxCompletedSize = 1 << 19

// trim removes the oldest finished runs beyond the limits, but none that is due after the cursor: findStarted would take its
// Job for a run that is not listed yet.
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

// maxMessage bounds messages of Jobs and of the API server in the status, in bytes.
const maxMessage = 1024

func shortened(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + " …"
}
