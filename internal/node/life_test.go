package node_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// commands are what probes and hooks run in scripted containers.
type commands struct {
	mu sync.Mutex
	// codes are the exit codes of commands that end at once; all others run until they are ended.
	codes map[string]int32
	ends  map[string]chan int32
	// ran are the commands that were run, each with its container.
	ran []string
}

// answer lets scripted containers run commands.
func (r *scripted) answer() *commands {
	c := &commands{codes: map[string]int32{}, ends: map[string]chan int32{}}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exec = c.run
	return c
}

func (c *commands) run(ctx context.Context, id runtime.ID, command string) (int32, error) {
	c.mu.Lock()
	c.ran = append(c.ran, id.Container+" "+command)
	code, atOnce := c.codes[command]
	end := c.endOf(command)
	c.mu.Unlock()
	if atOnce {
		return code, nil
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case code = <-end:
		return code, nil
	}
}

func (c *commands) endOf(command string) chan int32 {
	if c.ends[command] == nil {
		c.ends[command] = make(chan int32, 1)
	}
	return c.ends[command]
}

// exit has a command end at once with a code from now on.
func (c *commands) exit(command string, code int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.codes[command] = code
}

// end ends one run of a command.
func (c *commands) end(command string, code int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endOf(command) <- code
}

// runs returns how often a container has run a command.
func (c *commands) runs(containerAndCommand string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ran := range c.ran {
		if ran == containerAndCommand {
			n++
		}
	}
	return n
}

func runCommand(command string) *corev1.ExecAction {
	return &corev1.ExecAction{Command: strings.Fields(command)}
}

// everySecond is a probe that runs a command every second. One result decides.
func everySecond(command string) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{Exec: runCommand(command)}, PeriodSeconds: 1, SuccessThreshold: 1, FailureThreshold: 1,
	}
}

func hook(command string) *corev1.LifecycleHandler {
	return &corev1.LifecycleHandler{Exec: runCommand(command)}
}

// untilRun waits until a container has run a command so many times.
func (h *testNode) untilRun(c *commands, containerAndCommand string, times int) {
	h.t.Helper()
	h.eventually(containerAndCommand, func() bool { return c.runs(containerAndCommand) >= times }, func() any { return c.runs(containerAndCommand) })
}

func statusOf(p *corev1.Pod, container string) corev1.ContainerStatus {
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if s.Name == container {
			return s
		}
	}
	return corev1.ContainerStatus{}
}

func isReady(p *corev1.Pod) bool { return condition(p, corev1.PodReady).Status == corev1.ConditionTrue }

func TestFailedLivenessRestartsTheContainer(t *testing.T) {
	t.Parallel() // It only waits, as long as the probes' periods.
	rt := newScripted()
	answers := rt.answer()
	answers.exit("alive?", 1)
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("ill", []string{"tidy"}, func(p *corev1.Pod) {
		p.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		p.Spec.Containers[0].LivenessProbe = everySecond("alive?")
		p.Spec.Containers[0].LivenessProbe.TerminationGracePeriodSeconds = ptr.To[int64](7)
	}))
	h.untilEvent("Warning Unhealthy Liveness probe failed: ")
	answers.exit("alive?", 0)
	h.untilEvent("Normal Killing Container main failed liveness probe, will be restarted")
	again := h.until(pod, "the container runs again", func(p *corev1.Pod) bool {
		return statusOf(p, "main").RestartCount == 1 && statusOf(p, "main").State.Running != nil
	})
	if last := statusOf(again, "main").LastTerminationState.Terminated; last == nil || last.ExitCode != 0 {
		t.Errorf("its first attempt ended as %+v", last)
	}
	if grace := rt.stopped(pod.UID).Seconds(); grace != 7 {
		t.Errorf("it had %v seconds to end", grace)
	}
	h.untilRun(answers, "main alive?", 2)
}

func TestReadinessComesAndGoes(t *testing.T) {
	t.Parallel()
	rt := newScripted()
	answers := rt.answer()
	answers.exit("ready?", 1)
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("slow", []string{"wait"}, func(p *corev1.Pod) { p.Spec.Containers[0].ReadinessProbe = everySecond("ready?") }))
	running := h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
	if s := statusOf(running, "main"); s.Ready || s.Started == nil || !*s.Started || isReady(running) {
		t.Errorf("ready before it was probed: %+v", s)
	}
	answers.exit("ready?", 0)
	h.until(pod, "it is ready", func(p *corev1.Pod) bool { return isReady(p) && statusOf(p, "main").Ready })
	answers.exit("ready?", 1)
	h.until(pod, "it is not ready any more", func(p *corev1.Pod) bool { return !isReady(p) && !statusOf(p, "main").Ready })
}

func TestReadinessOutlivesTheNode(t *testing.T) {
	t.Parallel()
	rt := newScripted()
	answers := rt.answer()
	answers.exit("ready?", 0)
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("served", []string{"wait"}, func(p *corev1.Pod) { p.Spec.Containers[0].ReadinessProbe = everySecond("ready?") }))
	ready := h.until(pod, "it is ready", isReady)
	h.stopNode()
	h.untilSeen(ready)
	before := answers.runs("main ready?")
	h.startNode(nil)
	h.untilRun(answers, "main ready?", before+1)
	after := h.until(pod, "it is there", func(p *corev1.Pod) bool { return p != nil })
	if after.ResourceVersion != ready.ResourceVersion {
		t.Errorf("the restart of the node has changed the status: %+v", after.Status.Conditions)
	}
	answers.exit("ready?", 1)
	h.until(pod, "it is not ready any more", func(p *corev1.Pod) bool { return !isReady(p) })
}

func TestSidecarHoldsBackThePodUntilItHasStarted(t *testing.T) {
	t.Parallel()
	rt := newScripted()
	answers := rt.answer()
	answers.exit("started?", 1)
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("helped", []string{"wait"}, func(p *corev1.Pod) {
		side := corev1.Container{Name: "side", Image: "none", Command: []string{"wait"}, RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}
		side.StartupProbe = everySecond("started?")
		side.StartupProbe.FailureThreshold = 1000
		p.Spec.InitContainers = []corev1.Container{side}
	}))
	h.untilRun(answers, "side started?", 1)
	waiting := h.until(pod, "the sidecar runs", func(p *corev1.Pod) bool { return statusOf(p, "side").State.Running != nil })
	if s := statusOf(waiting, "side"); *s.Started || waiting.Status.Phase != corev1.PodPending || len(rt.startedOf(pod.UID)) != 1 {
		t.Errorf("%s with %+v, and %d containers started", waiting.Status.Phase, s, len(rt.startedOf(pod.UID)))
	}
	answers.exit("started?", 0)
	h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
}

func TestPostStartHook(t *testing.T) {
	rt := newScripted()
	answers := rt.answer()
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("begun", []string{"wait"}, func(p *corev1.Pod) {
		p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: hook("begin")}
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "second", Image: "none", Command: []string{"wait"}})
	}))
	h.untilRun(answers, "main begin", 1)
	waiting := h.until(pod, "the first runs", func(p *corev1.Pod) bool { return statusOf(p, "main").State.Running != nil })
	if *statusOf(waiting, "main").Started || len(rt.startedOf(pod.UID)) != 1 {
		t.Errorf("%+v, and %d containers started", statusOf(waiting, "main"), len(rt.startedOf(pod.UID)))
	}
	answers.end("begin", 0)
	h.until(pod, "the pod is ready", isReady)
}

func TestFailedPostStartHookKillsTheContainer(t *testing.T) {
	rt := newScripted()
	answers := rt.answer()
	answers.exit("begin", 3)
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("begun", []string{"wait"}, func(p *corev1.Pod) {
		p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: hook("begin")}
	}))
	h.until(pod, "the pod has failed", inPhase(corev1.PodFailed))
	h.untilEvent(`Warning FailedPostStartHook PostStartHook failed: command ["begin"] exited with 3`)
	h.untilEvent("Normal Killing FailedPostStartHook")
}

func TestPreStopHookRunsBeforeTheContainerIsStopped(t *testing.T) {
	rt := newScripted()
	answers := rt.answer()
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("closing", []string{"wait"}, func(p *corev1.Pod) {
		p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: hook("close")}
		p.Spec.TerminationGracePeriodSeconds = ptr.To[int64](3600)
	}))
	running := h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
	if err := h.client.Pods().Delete(t.Context(), running, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	h.untilRun(answers, "main close", 1)
	// A hook that was cut off by a restart of the node runs again.
	h.stopNode()
	h.startNode(nil)
	h.untilRun(answers, "main close", 2)
	if grace := rt.stopped(pod.UID); grace != 0 {
		t.Errorf("stopped with %s before its hook has ended", grace)
	}
	answers.end("close", 1)
	h.until(pod, "the pod goes", gone)
	h.untilForgotten(rt)
	h.untilEvent(`Warning FailedPreStopHook PreStopHook failed: command ["close"] exited with 1`)
}

func TestDeletionWithoutGraceCutsThePreStopHook(t *testing.T) {
	rt := newScripted()
	answers := rt.answer()
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("closing", []string{"wait"}, func(p *corev1.Pod) {
		p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: hook("close")}
		p.Spec.TerminationGracePeriodSeconds = ptr.To[int64](3600)
	}))
	running := h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
	if err := h.client.Pods().Delete(t.Context(), running, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	h.untilRun(answers, "main close", 1)
	if err := h.client.Pods().Delete(t.Context(), running, client.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}); err != nil {
		t.Fatal(err)
	}
	h.until(pod, "the pod goes", gone)
	h.untilForgotten(rt)
}

func TestARuleRestartsAllContainers(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("group", []string{"wait"}, func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "none", Command: []string{"exit", "0"}}}
		p.Spec.Containers[0].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyNever)
		p.Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{
			Action: corev1.ContainerRestartRuleActionRestartAllContainers,
			ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{
				Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{88},
			},
		}}
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "second", Image: "none", Command: []string{"wait"}})
	}))
	h.until(pod, "the pod is ready", isReady)
	rt.end(runtime.ID{PodUID: pod.UID, Container: "main"}, 88)
	again := h.until(pod, "all have restarted", func(p *corev1.Pod) bool {
		return isReady(p) && statusOf(p, "init").RestartCount == 1 && statusOf(p, "main").RestartCount == 1 && statusOf(p, "second").RestartCount == 1
	})
	if again.Status.Phase != corev1.PodRunning || condition(again, corev1.AllContainersRestarting).Status != corev1.ConditionFalse {
		t.Errorf("%s, %+v", again.Status.Phase, condition(again, corev1.AllContainersRestarting))
	}
	for _, name := range []string{"main", "second"} {
		rt.end(runtime.ID{PodUID: pod.UID, Container: name, Attempt: 1}, 0)
	}
	h.until(pod, "the pod succeeds", inPhase(corev1.PodSucceeded))
	rt.check(t)
}

func TestEventsKeepTheBeginningOfALongAnswer(t *testing.T) {
	rt := newScripted()
	answers := rt.answer()
	program := strings.Repeat("long", 10_000)
	answers.exit(program, 1)
	h := newTestNode(t, rt)
	h.startNode(nil)
	h.create(build("long", []string{"wait"}, func(p *corev1.Pod) {
		p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: hook(program)}
	}))
	if event := h.untilEvent("Warning FailedPostStartHook PostStartHook failed: command"); len(event) > len(program)/2 {
		t.Errorf("an event of %d bytes", len(event))
	}
}
