package run

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/podstatus"
	"github.com/stint-dev/stint/test/wrappers"
)

// The watch shows a pod again and again, and the server warns of it as well when its log is read.
func TestAnIncompleteLogIsToldOnce(t *testing.T) {
	var notes []string
	c := &connection{warn: &warnings{note: func(text string) { notes = append(notes, text) }}}
	r := &podReader{connection: c, jobs: newTracker(), show: LogsNone}
	job := wrappers.MakeJob("job").Namespace("default").UID("job").Obj()
	r.jobs.add(newTracked(job, output.Created, 0))
	other := wrappers.MakeJob("other").Namespace("default").UID("other").Obj()
	part := corev1.PodCondition{Type: podstatus.LogsIncomplete, Status: corev1.ConditionTrue, Message: "container main: 7 bytes"}
	for range 2 {
		r.seen(wrappers.MakePodOf(job, "whole").UID("whole").Phase(corev1.PodRunning).Obj(), false)
		r.seen(wrappers.MakePodOf(job, "part").UID("part").Phase(corev1.PodRunning).Conditions(part).Obj(), false)
		r.seen(wrappers.MakePodOf(other, "not-ours").UID("not-ours").Phase(corev1.PodRunning).Conditions(part).Obj(), false)
		c.warn.HandleWarningHeader(299, "-", "the logs of pod part are incomplete: container main: 7 bytes")
	}
	if diff := cmp.Diff([]string{"warning: the logs of pod part are incomplete: container main: 7 bytes"}, notes); diff != "" {
		t.Error(diff)
	}
}
