package run

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/cli/output"
)

// refresh shows what has changed, and concludes finished Jobs.
func (f *follower) refresh(ctx context.Context) {
	changed, ended := f.jobs.changes(time.Now())
	for _, p := range changed {
		f.out.Progress(p)
	}
	for _, e := range ended {
		f.ends.conclude(ctx, e, f.stopper.begun())
	}
}

func (f *follower) printProgress() {
	for _, p := range f.jobs.progress(time.Now()) {
		f.out.Progress(p)
	}
}

// printWaits shows what pods wait for.
func (f *follower) printWaits() {
	waits, more := f.jobs.waits()
	for _, w := range waits {
		f.out.PodWaiting(w)
		if isForClaims(w) {
			f.out.Note("why the claims are not bound: " + f.caller.Command(w.Job.Namespace, "why", w.Job.Name))
		}
	}
	for _, m := range more {
		f.out.Note(fmt.Sprintf("job %s: and %s waiting: see %s", m.job.Name, numbered(m.pods, "more pod"), f.caller.Command(m.job.Namespace, "get", "pods")))
	}
}

// isForClaims reports whether a pod waits for claims that its message does not name.
func isForClaims(w output.PodWait) bool {
	return w.Reason == corev1.PodReasonUnschedulable && strings.Contains(w.Message, "unbound immediate PersistentVolumeClaims")
}

// readLastLogs waits for the last output of deleted pods, until Ctrl-C is pressed again.
func (f *follower) readLastLogs(ctx context.Context) {
	if f.pods.logs == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, f.lateDataTimeout)
	defer cancel()
	go func() {
		for {
			select {
			case <-f.interrupts:
				if !f.stopper.isDuplicate(time.Now()) {
					cancel()
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	f.pods.logs.DrainAll(ctx)
}
