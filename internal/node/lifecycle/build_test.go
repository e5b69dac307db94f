package lifecycle_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/probe"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// t0 is when the pods of these tests were admitted.
var t0 = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

func at(seconds int) time.Time { return t0.Add(time.Duration(seconds) * time.Second) }

// world is a pod with its containers' attempts.
type world struct {
	pod           *corev1.Pod
	containers    map[string]lifecycle.History
	startFailures map[string]lifecycle.StartFailure
	restartAll    time.Time
	refusal       *lifecycle.Refusal
	eviction      *lifecycle.Eviction
	waits         bool
	// mountsReadOnly is whether recursive read-only mounts hold.
	mountsReadOnly bool
}

func newWorld(policy corev1.RestartPolicy, containers ...string) *world {
	grace := int64(30)
	w := &world{
		pod: &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "ns", UID: "uid"},
			Spec:       corev1.PodSpec{RestartPolicy: policy, TerminationGracePeriodSeconds: &grace},
		},
		containers: map[string]lifecycle.History{},
	}
	for _, name := range containers {
		w.pod.Spec.Containers = append(w.pod.Spec.Containers, corev1.Container{Name: name})
	}
	return w
}

func (w *world) init(name string) *world {
	w.pod.Spec.InitContainers = append(w.pod.Spec.InitContainers, corev1.Container{Name: name})
	return w
}

func (w *world) sidecar(name string) *world {
	always := corev1.ContainerRestartPolicyAlways
	w.pod.Spec.InitContainers = append(w.pod.Spec.InitContainers, corev1.Container{Name: name, RestartPolicy: &always})
	return w
}

// ephemeral adds an ephemeral container, which shares the process ids of target if that is not empty.
func (w *world) ephemeral(name, target string) *world {
	w.pod.Spec.EphemeralContainers = append(w.pod.Spec.EphemeralContainers, corev1.EphemeralContainer{
		EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name}, TargetContainerName: target,
	})
	return w
}

func (w *world) deadline(seconds int64) *world {
	w.pod.Spec.ActiveDeadlineSeconds = &seconds
	return w
}

// deleted deletes the pod. As in the API, the deletion timestamp is cut to whole seconds.
func (w *world) deleted(at time.Time, grace int64) *world {
	gone := metav1.NewTime(at.Add(time.Duration(grace) * time.Second).Truncate(time.Second))
	w.pod.DeletionTimestamp, w.pod.DeletionGracePeriodSeconds = &gone, &grace
	return w
}

func (w *world) add(s runtime.Status) *world {
	h := w.containers[s.Container]
	h.Add(s, w.restartAll)
	w.containers[s.Container] = h
	return w
}

func (w *world) id(name string, attempt int32) runtime.ID {
	return runtime.ID{PodUID: w.pod.UID, Container: name, Attempt: attempt}
}

func (w *world) runs(name string, attempt int32, since time.Time) *world {
	return w.add(runtime.Status{ID: w.id(name, attempt), State: runtime.Running, StartedAt: since})
}

func (w *world) exited(name string, attempt int32, code int32, ended time.Time) *world {
	started := ended.Add(-time.Second)
	if h := w.containers[name]; h.Running() && h.Last.Attempt == attempt {
		started = h.Last.StartedAt
	}
	return w.add(runtime.Status{
		ID: w.id(name, attempt), State: runtime.Exited, ExitCode: code, StartedAt: started, FinishedAt: ended,
	})
}

// endedExternally lets another client end the pod.
func (w *world) endedExternally(phase corev1.PodPhase) *world {
	w.pod.Status.Phase = phase
	return w
}

// evicted lets the node evict the pod.
func (w *world) evicted(at time.Time) *world {
	w.eviction = &lifecycle.Eviction{Message: "too much", At: at}
	return w
}

// spec returns the spec of a container.
func (w *world) spec(name string) *corev1.Container {
	for _, list := range [][]corev1.Container{w.pod.Spec.InitContainers, w.pod.Spec.Containers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// with changes the spec of a container.
func (w *world) with(name string, change func(*corev1.Container)) *world {
	change(w.spec(name))
	return w
}

// change changes what is known of a container.
func (w *world) change(name string, change func(*lifecycle.History)) *world {
	h := w.containers[name]
	change(&h)
	w.containers[name] = h
	return w
}

// probed gives a running container probes that have come to results.
func (w *world) probed(name string, results ...probe.Kind) *world {
	return w.change(name, func(h *lifecycle.History) {
		h.Probes = probe.Begin(w.spec(name), h.Last.StartedAt)
		for i := 0; i < len(results); i++ {
			h.Probes.Observe(results[i], probe.Success, h.Last.StartedAt)
		}
	})
}

// fails lets a probe of a container fail.
func (w *world) fails(name string, kind probe.Kind) *world {
	w.probed(name)
	w.containers[name].Probes.Observe(kind, probe.Failure, t0)
	return w
}

func postStart(c *corev1.Container) { hooks(c).PostStart = &corev1.LifecycleHandler{} }
func preStop(c *corev1.Container)   { hooks(c).PreStop = &corev1.LifecycleHandler{} }

func hooks(c *corev1.Container) *corev1.Lifecycle {
	if c.Lifecycle == nil {
		c.Lifecycle = &corev1.Lifecycle{}
	}
	return c.Lifecycle
}

func hasProbe(kind probe.Kind) func(*corev1.Container) {
	return func(c *corev1.Container) {
		p := &corev1.Probe{PeriodSeconds: 1, SuccessThreshold: 1, FailureThreshold: 1}
		switch kind {
		case probe.Startup:
			c.StartupProbe = p
		case probe.Readiness:
			c.ReadinessProbe = p
		case probe.Liveness:
			c.LivenessProbe = p
		}
	}
}

// rule gives a container a rule for an exit code.
func rule(action corev1.ContainerRestartRuleAction, exitCode int32) func(*corev1.Container) {
	return func(c *corev1.Container) {
		c.RestartPolicyRules = append(c.RestartPolicyRules, corev1.ContainerRestartRule{
			Action: action, ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{
				Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{exitCode},
			},
		})
	}
}

// stopping tells a container at t0 to stop by a time.
func (w *world) stopping(name string, by time.Time) *world {
	return w.change(name, func(h *lifecycle.History) { h.ToldAt, h.StopBy = t0, by })
}

func (w *world) decide(now time.Time) lifecycle.Decision { return w.decideStarted(t0, now) }

// decideStarted is decide for a pod that was admitted at another time.
func (w *world) decideStarted(start, now time.Time) lifecycle.Decision {
	return lifecycle.Decide(lifecycle.Observation{
		Pod:           w.pod,
		Now:           now,
		Admitted:      !w.waits,
		StartTime:     start,
		Containers:    w.containers,
		StartFailures: w.startFailures,
		Refusal:       w.refusal,
		Eviction:      w.eviction,
		RestartAll:    w.restartAll,
		Host:          lifecycle.Host{IP: "192.0.2.1", Runtime: "process", MountsReadOnly: w.mountsReadOnly},
	})
}

// starts returns the names of the containers to start.
func starts(d lifecycle.Decision) []string {
	names := []string{}
	for _, s := range d.Start {
		names = append(names, s.Container.Name)
	}
	return names
}

func stops(d lifecycle.Decision) []string {
	names := []string{}
	for _, s := range d.Stop {
		names = append(names, s.ID.Container)
	}
	return names
}
