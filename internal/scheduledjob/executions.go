package scheduledjob

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// executions are the runs that the status lists. Each is in one list, and moves from pending to running to completed.
type executions struct {
	view      *view
	pending   pending
	running   running
	completed completed
}

func (x *executions) all() []stintv1.Execution {
	return slices.Concat(x.running.list, x.completed.list, x.pending.list)
}

func (x *executions) listed(tag string) bool {
	return has(x.running.list, tag) || has(x.completed.list, tag) || has(x.pending.list, tag)
}

// start lists a run as running, and removes it from the pending ones if it is there.
func (x *executions) start(e stintv1.Execution, job *batchv1.Job) {
	x.pending.remove(e.Tag)
	x.running.add(e, job)
}

// fail lists a pending run that cannot start as completed and failed.
func (x *executions) fail(e stintv1.Execution, reason, message string) {
	x.pending.remove(e.Tag)
	e.CompletedAt, e.Success = metaTime(x.view.now), ptr.To(false)
	e.Reason, e.Message = reason, shortened(message)
	e.Overrides = KeptOverrides(e.Overrides)
	x.completed.add(e)
}

func has(list []stintv1.Execution, tag string) bool {
	return slices.ContainsFunc(list, func(e stintv1.Execution) bool { return e.Tag == tag })
}

func without(list []stintv1.Execution, tag string) []stintv1.Execution {
	return slices.DeleteFunc(list, func(e stintv1.Execution) bool { return e.Tag == tag })
}
