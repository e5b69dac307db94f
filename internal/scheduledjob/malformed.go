package scheduledjob

import (
	"fmt"
	"slices"
	"time"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// dropMalformed removes pending runs that cannot run, fills in what the others lack, and keeps each tag in one list only,
// once.
func (x *executions) dropMalformed() {
	seen := map[string]bool{}
	for _, list := range []*[]stintv1.Execution{&x.running.list, &x.completed.list, &x.pending.list} {
		*list = slices.DeleteFunc(*list, func(e stintv1.Execution) bool {
			twice := seen[e.Tag]
			seen[e.Tag] = true
			return twice
		})
	}
	x.pending.dropMalformed(x.view.now)
}

func (p *pending) dropMalformed(now time.Time) {
	p.list = slices.DeleteFunc(p.list, func(e stintv1.Execution) bool {
		fault := faultOf(e)
		if fault != "" {
			p.events.addWarning(ReasonInvalidExecution, "Dropped a pending execution: %s", fault)
		}
		return fault != ""
	})
	for i := range p.list {
		fillIn(&p.list[i], now)
	}
}

func faultOf(e stintv1.Execution) string {
	switch {
	case e.Tag == "":
		return "it has no tag"
	case !ValidTag(e.Tag):
		return fmt.Sprintf("tag %q is neither a due time nor 1 to 15 of a-z, 0-9 and '-' that start with a letter and do not end with '-'", shortened(e.Tag))
	case e.Trigger != "" && e.Trigger != triggerOf(e.Tag):
		return fmt.Sprintf("trigger %q does not match tag %q", shortened(string(e.Trigger)), e.Tag)
	}
	return ""
}

func fillIn(e *stintv1.Execution, now time.Time) {
	e.Trigger, e.Status = triggerOf(e.Tag), stintv1.ExecutionPending
	if due, ok := dueOf(e.Tag); ok && (e.DueAt == nil || !e.DueAt.Time.Equal(due)) {
		e.DueAt = metaTime(due)
	}
	if e.CreatedAt == nil {
		e.CreatedAt = metaTime(now)
	}
}
