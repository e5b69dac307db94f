package lifecycle

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/podstatus"
)

// logWriteFailed is the reason of the condition LogsIncomplete, and of the events about it.
const logWriteFailed = "LogWriteFailed"

// loss is an attempt whose log lacks output.
type loss struct {
	*runtime.Status
	// only: it is the container's only attempt.
	only bool
}

// losses returns the attempts whose logs lack output. Those before the previous attempt are not known any more, but the stored
// condition stays.
func (p *plan) losses() (all []loss) {
	for _, c := range p.containers {
		for _, s := range []*runtime.Status{c.Previous, c.Last} {
			if s != nil && s.LostOutput != nil {
				all = append(all, loss{s, c.Last.Attempt == 0})
			}
		}
	}
	return all
}

// addLossEvents adds an event for each attempt that the stored condition does not name: a node that has just started does not know
// what was recorded before.
func (p *plan) addLossEvents() {
	told := ""
	if stored := find(p.Pod.Status.Conditions, podstatus.LogsIncomplete); stored != nil {
		told = stored.Message
	}
	for _, l := range p.losses() {
		if !l.isIn(told) {
			key := EventKey{Reason: logWriteFailed, Container: l.Container, Attempt: l.Attempt}
			p.Events = append(p.Events, Event{Key: key, Type: corev1.EventTypeWarning, Message: l.describe(someOutput)})
		}
	}
}

// isIn reports whether the message of a condition names the loss, with whatever amount.
func (l loss) isIn(message string) bool {
	for told := range strings.SplitSeq(message, separator) {
		if strings.Contains(told, "container "+l.Container+": ") && strings.HasSuffix(told, lossText(l.LostOutput, "")) {
			return true
		}
	}
	return false
}

const separator = "; "

func describe(losses []loss) string {
	var texts []string
	for _, l := range losses {
		texts = append(texts, l.describe(amount(l.Status)))
	}
	return strings.Join(texts, separator)
}

// describe says what is lost, and whose. Users count attempts from 1.
func (l loss) describe(amount string) string {
	whose := "container " + l.Container
	if !l.only {
		whose = fmt.Sprintf("attempt %d of %s", l.Attempt+1, whose)
	}
	return whose + ": " + lossText(l.LostOutput, amount)
}

const someOutput = "some of its output is"

// amount is not told while it grows: each change would be one more write of the status.
func amount(s *runtime.Status) string {
	const mib = 1 << 20
	n := s.LostOutput.Bytes
	switch {
	case s.State == runtime.Running || s.Lost:
		return someOutput
	case n < mib:
		return fmt.Sprintf("%d bytes of its output are", n)
	}
	return fmt.Sprintf("%.1f MiB of its output are", float64(n)/mib)
}

func lossText(lost *runtime.LostOutput, amount string) string {
	return fmt.Sprintf("%s lost from %s on: %s", amount, lost.Since.UTC().Format(time.RFC3339), lost.Reason)
}

// WithLoss returns the end of an attempt's log with a first line that says what the log lacks, if it lacks anything.
func WithLoss(s *runtime.Status, text string) string {
	if s.LostOutput == nil {
		return text
	}
	note := "[the log is incomplete: " + lossText(s.LostOutput, amount(s)) + "]"
	if text == "" {
		return note
	}
	return note + "\n" + text
}
