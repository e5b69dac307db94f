package scheduledjob

import (
	"slices"
	"time"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// pending are the runs that wait, in the order in which they start.
type pending struct {
	list   []stintv1.Execution
	events *events
}

// enqueue adds scheduled runs.
func (p *pending) enqueue(due []time.Time) {
	for _, t := range due {
		p.list = append(p.list, stintv1.Execution{
			Tag: dueTag(t), Trigger: stintv1.TriggerSchedule, Status: stintv1.ExecutionPending, DueAt: metaTime(t), CreatedAt: metaTime(t)})
	}
}

func (p *pending) remove(tag string) { p.list = without(p.list, tag) }

// find returns the run with this tag. It must be there.
func (p *pending) find(tag string) *stintv1.Execution {
	i := slices.IndexFunc(p.list, func(e stintv1.Execution) bool { return e.Tag == tag })
	return &p.list[i]
}

// scheduled returns how many of the pending runs are scheduled ones.
func (p *pending) scheduled() int {
	n := 0
	for _, e := range p.list {
		if e.Trigger == stintv1.TriggerSchedule {
			n++
		}
	}
	return n
}
