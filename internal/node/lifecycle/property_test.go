package lifecycle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/probe"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/podstatus"
)

// history simulates a pod on a machine where anything may happen, and checks every decision.
type history struct {
	*world
	t        *rapid.T
	now      time.Time
	restarts map[string]int32
	ended    corev1.PodPhase
}

func anyPod(t *rapid.T) *world {
	policy := rapid.SampledFrom([]corev1.RestartPolicy{never, onFailure}).Draw(t, "policy")
	w := newWorld(policy)
	for i := range rapid.IntRange(0, 3).Draw(t, "inits") {
		if rapid.Bool().Draw(t, "sidecar") {
			w.sidecar(fmt.Sprintf("sidecar%d", i))
		} else {
			w.init(fmt.Sprintf("init%d", i))
		}
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "mains") {
		w.pod.Spec.Containers = append(w.pod.Spec.Containers, corev1.Container{Name: fmt.Sprintf("main%d", i)})
	}
	for _, c := range append(slices.Clone(w.pod.Spec.InitContainers), w.pod.Spec.Containers...) {
		w.with(c.Name, anyLife(t, c.RestartPolicy != nil || !strings.HasPrefix(c.Name, "init")))
	}
	if rapid.Bool().Draw(t, "has deadline") {
		w.deadline(int64(rapid.IntRange(1, 500).Draw(t, "deadline")))
	}
	return w
}

// anyLife gives a container hooks and probes, if it may have them, and perhaps a rule that restarts all.
func anyLife(t *rapid.T, mayHaveHooks bool) func(*corev1.Container) {
	return func(c *corev1.Container) {
		if mayHaveHooks && rapid.Bool().Draw(t, "preStop") {
			preStop(c)
		}
		if mayHaveHooks && rapid.Bool().Draw(t, "liveness") {
			hasProbe(probe.Liveness)(c)
		}
		if rapid.IntRange(0, 3).Draw(t, "restarts all") == 0 {
			rule(restartAll, 88)(c)
		}
	}
}

func TestAnyLife(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &history{world: anyPod(t), t: t, now: t0, restarts: map[string]int32{}}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			h.act()
			h.step()
		}
		h.runToEnd()
	})
}

// act lets something happen on the machine.
func (h *history) act() {
	acts := []string{"time", "exit", "exit", "exit", "probe", "hook", "debug", "lose", "delete", "evict", "nothing"}
	switch rapid.SampledFrom(acts).Draw(h.t, "act") {
	case "time":
		h.now = h.now.Add(time.Duration(rapid.IntRange(0, 700).Draw(h.t, "seconds")) * time.Second)
	case "exit":
		h.end(rapid.SampledFrom([]int32{0, 0, 0, 1, 88, 143}).Draw(h.t, "code"), false)
	case "probe":
		for _, name := range h.running() {
			h.containers[name].Probes.Observe(probe.Liveness, probe.Failure, h.now)
		}
	case "hook":
		h.endHooks()
	case "lose":
		if rapid.IntRange(0, 9).Draw(h.t, "luck") == 0 {
			h.end(0, true)
		}
	case "delete":
		if h.pod.DeletionTimestamp == nil && rapid.IntRange(0, 4).Draw(h.t, "luck") == 0 {
			h.deleted(h.now, 30)
		}
	case "debug":
		if name := fmt.Sprint("ephemeral", len(h.pod.Spec.EphemeralContainers)); len(h.pod.Spec.EphemeralContainers) < 3 {
			h.ephemeral(name, rapid.SampledFrom([]string{"", "main0"}).Draw(h.t, "target"))
		}
	case "evict":
		if h.eviction == nil && h.ended == "" && rapid.IntRange(0, 4).Draw(h.t, "luck") == 0 {
			h.evicted(h.now)
		}
	}
}

func (h *history) end(code int32, lost bool) {
	running := h.running()
	if len(running) == 0 {
		return
	}
	c := h.containers[rapid.SampledFrom(running).Draw(h.t, "which")]
	if _, failed := c.Probes.Failed(); failed && code == 0 {
		code = 143 // Success that is no success depends on whether the pod is to go on, which may change after the end here.
	}
	s := *c.Last
	s.State, s.ExitCode, s.Lost, s.FinishedAt = runtime.Exited, code, lost, h.now
	h.add(s)
}

// endHooks lets all preStop hooks end.
func (h *history) endHooks() (any bool) {
	for _, name := range h.running() {
		h.change(name, func(c *lifecycle.History) {
			if c.PreStop == lifecycle.HookRuns {
				any, c.PreStop = true, lifecycle.HookEnded
			}
		})
	}
	return any
}

func (h *history) running() []string {
	var names []string
	for name, c := range h.containers {
		if c.Running() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// step decides, checks the decision and applies it.
func (h *history) step() lifecycle.Decision {
	d := h.decide(h.now)
	if diff := cmp.Diff(d, h.decide(h.now)); diff != "" {
		h.t.Fatalf("the same observation gave two decisions:\n%s", diff)
	}
	h.checkStarts(d)
	h.checkStops(d)
	h.checkStatus(d)
	h.restartAll = d.RestartAll
	for _, s := range d.Stop {
		h.change(s.ID.Container, func(c *lifecycle.History) { c.Told(s, h.now) })
	}
	for _, s := range d.Start {
		status := runtime.Status{ID: h.id(s.Container.Name, s.Attempt), State: runtime.Running, StartedAt: h.now}
		if rapid.IntRange(0, 9).Draw(h.t, "start") == 0 {
			status.State, status.StartError, status.ExitCode, status.FinishedAt = runtime.Exited, "no such file", 128, h.now
		}
		h.add(status)
		h.change(s.Container.Name, func(c *lifecycle.History) { c.Probes = probe.Begin(s.Container, h.now) })
	}
	return d
}

func (h *history) checkStarts(d lifecycle.Decision) {
	if len(d.Start) > 0 && (h.pod.DeletionTimestamp != nil || h.eviction != nil || d.Ended || h.ended != "") {
		h.t.Fatalf("starts %v in a pod that is over", starts(d))
	}
	for _, s := range d.Start {
		c := h.containers[s.Container.Name]
		if c.Running() {
			h.t.Fatalf("starts %s beside its running attempt", s.Container.Name)
		}
		if c.Last != nil && s.Attempt != c.Last.Attempt+1 || c.Last == nil && s.Attempt != 0 {
			h.t.Fatalf("starts %s as attempt %d after %+v", s.Container.Name, s.Attempt, c.Last)
		}
		switch {
		case isEphemeral(s.Container.Name):
			h.checkEphemeral(s)
		case c.Last == nil:
			h.checkOrder(s.Container.Name)
		}
	}
}

func isEphemeral(name string) bool { return strings.HasPrefix(name, "ephemeral") }

// checkEphemeral checks that an ephemeral container starts once, and beside its target.
func (h *history) checkEphemeral(s lifecycle.Start) {
	for _, c := range h.pod.Spec.EphemeralContainers {
		if c.Name != s.Container.Name {
			continue
		}
		if (c.TargetContainerName != "") != (s.Target != nil) || s.Target != nil && !h.containers[s.Target.Container].Running() {
			h.t.Fatalf("starts %s with target %+v", c.Name, s.Target)
		}
	}
	if s.Attempt > 0 {
		h.t.Fatalf("starts %s again", s.Container.Name)
	}
}

// checkOrder checks that all init containers before a container have succeeded, and that all sidecars before it have
// started.
func (h *history) checkOrder(name string) {
	for i := range h.pod.Spec.InitContainers {
		c := &h.pod.Spec.InitContainers[i]
		if c.Name == name {
			return
		}
		past := h.containers[c.Name]
		switch {
		case past.Last == nil:
			h.t.Fatalf("%s starts before %s", name, c.Name)
		case c.RestartPolicy == nil && !(past.Exited() && past.Last.ExitCode == 0):
			h.t.Fatalf("%s starts before %s has succeeded", name, c.Name)
		}
	}
}

func (h *history) checkStops(d lifecycle.Decision) {
	least := 2 * time.Second
	if h.eviction != nil {
		least = time.Second
	}
	for _, s := range d.Stop {
		if !h.containers[s.ID.Container].Running() {
			h.t.Fatalf("stops %s, which does not run", s.ID.Container)
		}
		if s.Grace < least && !s.PreStop {
			h.t.Fatalf("gives %s only %s to end", s.ID.Container, s.Grace)
		}
		if isEphemeral(s.ID.Container) && !d.Ending {
			h.t.Fatalf("stops %s before the pod ends", s.ID.Container)
		}
	}
	for i, c := range h.pod.Spec.InitContainers {
		if c.RestartPolicy == nil || !d.Ending || !slices.ContainsFunc(d.Stop, func(s lifecycle.Stop) bool { return s.ID.Container == c.Name && !s.PreStop }) {
			continue
		}
		for _, name := range h.running() {
			later := slices.IndexFunc(h.pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == name })
			if !isEphemeral(name) && (later < 0 || later > i) {
				h.t.Fatalf("stops the sidecar %s while %s runs", c.Name, name)
			}
		}
	}
}

func (h *history) checkStatus(d lifecycle.Decision) {
	final := podstatus.IsTerminal(d.Status.Phase)
	if final != d.Ended || final && len(h.running()) > 0 {
		h.t.Fatalf("phase %s, ended %t, while %v run", d.Status.Phase, d.Ended, h.running())
	}
	if h.ended != "" && d.Status.Phase != h.ended {
		h.t.Fatalf("phase went from %s to %s", h.ended, d.Status.Phase)
	}
	if final {
		h.ended = d.Status.Phase
	}
	for s := range podstatus.EveryContainer(&d.Status) {
		if s.RestartCount < h.restarts[s.Name] {
			h.t.Fatalf("restart count of %s fell from %d to %d", s.Name, h.restarts[s.Name], s.RestartCount)
		}
		h.restarts[s.Name] = s.RestartCount
	}
}

// runToEnd checks that the pod terminates if every container succeeds from now on, and stops when it is told to.
func (h *history) runToEnd() {
	for range 200 {
		d := h.step()
		if d.Ended {
			return
		}
		ended := h.endHooks() || h.succeed()
		switch {
		case ended || len(d.Start) > 0:
		case d.RequeueAt.After(h.now):
			h.now = d.RequeueAt
		default:
			h.t.Fatalf("nothing will happen any more: %+v", d)
		}
	}
	h.t.Fatal("the pod does not come to its end")
}

// succeed ends all running containers, except sidecars that were not told to stop.
func (h *history) succeed() (any bool) {
	for _, name := range h.running() {
		c := h.containers[name]
		if (c.StopBy.IsZero() || c.PreStop != lifecycle.HookIdle) && h.isSidecar(name) {
			continue
		}
		s := *c.Last
		s.State, s.FinishedAt = runtime.Exited, h.now
		h.add(s)
		any = true
	}
	return any
}

func (h *history) isSidecar(name string) bool {
	return slices.ContainsFunc(h.pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && c.RestartPolicy != nil
	})
}
