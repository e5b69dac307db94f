package node

import (
	"maps"
	"net/netip"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// pod is what the node knows of one pod.
//
// The fields of the first group are read and written under mu. The fields of the second group are written only by the
// worker that syncs the pod; containers and notFound are also read by others, so the worker writes them under mu.
type pod struct {
	uid types.UID

	mu sync.Mutex
	// api is the newest version observed; nil if only the runtime knows the pod.
	api *corev1.Pod
	// absent: the API server has the pod no more, or it is bound to another node, as the informer shows.
	absent bool
	// finalObserved: the informer has shown the pod with a final status.
	finalObserved bool
	// stale: objects that the pod's volumes show may have changed, or what a start waits for may exist now.
	stale bool
	// eviction is why the pod is evicted; nil if it is not.
	eviction *lifecycle.Eviction
	// ended: all containers of the pod have ended for good.
	ended bool
	// runtimeStatuses are statuses from the runtime that no worker has processed.
	runtimeStatuses []runtime.Status
	// outcomes are those of probes and hooks that no worker has processed.
	outcomes []outcome
	// slowStarts apply the results of starts that no worker has waited for.
	slowStarts []func(*corev1.Pod)
	// exitWaiters are closed when the attempt has exited.
	exitWaiters map[runtime.ID]chan struct{}

	restored      bool
	containers    map[string]lifecycle.History
	startFailures map[string]lifecycle.StartFailure
	tries         map[string]int
	// starting are the attempts that are being started and that no worker waits for, by the names of their containers.
	starting map[string]runtime.ID
	// wantedSince is when the pending start of a container was first tried.
	wantedSince map[string]time.Time
	refusal     *lifecycle.Refusal
	// address is that of the pod's network, not valid if it uses the machine's. It is decided with the first start.
	address        netip.Addr
	addressDecided bool
	// hasProbesOrHooks is whether a container of the pod has.
	hasProbesOrHooks bool
	// restartAll is when all containers were last to restart.
	restartAll time.Time
	startTime  time.Time
	// waitingSince is when the pod began to wait for resources.
	waitingSince time.Time
	// taintedSince is when a NoExecute taint that evicts the pod, now or later, was first seen.
	taintedSince time.Time
	// changedAt is when the stored status became out of date; zero if it is not.
	changedAt time.Time
	recorded  map[lifecycle.EventKey]bool
	// notFound: a write has failed because the API server has the pod no more.
	notFound bool
	// removal is held while files of the pod are removed.
	removal sync.Mutex
	// cleaned: runtime and disk hold nothing of the pod any more. The worker writes it under removal.
	cleaned bool
	// failures counts the writes that have failed in a row.
	failures int
}

func newPod(uid types.UID) *pod {
	return &pod{uid: uid, containers: map[string]lifecycle.History{}}
}

// observe stores a version of the pod, unless a newer one is known. It returns the version known before, and whether
// this one was newer.
func (p *pod) observe(api *corev1.Pod) (before *corev1.Pod, changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before = p.api
	if before != nil && !newer(api, before) {
		return before, false
	}
	p.api = api
	return before, true
}

func newer(a, b *corev1.Pod) bool {
	order, err := resourceversion.CompareResourceVersion(a.ResourceVersion, b.ResourceVersion)
	return err != nil || order > 0
}

// addRuntimeStatus queues a status from the runtime for a worker.
func (p *pod) addRuntimeStatus(s runtime.Status) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runtimeStatuses = append(p.runtimeStatuses, s)
	if s.State != runtime.Exited {
		return
	}
	if c, ok := p.exitWaiters[s.ID]; ok {
		close(c)
		delete(p.exitWaiters, s.ID)
	}
}

// takeRuntimeStatuses returns the queued statuses, and empties the queue.
func (p *pod) takeRuntimeStatuses() []runtime.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	statuses := p.runtimeStatuses
	p.runtimeStatuses = nil
	return statuses
}

// addAttempt adds a status to the history of its container. It returns attempts older than the previous one, which the
// runtime may forget.
func (p *pod) addAttempt(s runtime.Status) (outdated []runtime.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.containers[s.Container]
	before := h.Previous
	h.Add(s, p.restartAll)
	p.containers[s.Container] = h
	if before != nil && h.Previous != nil && h.Previous.Attempt > before.Attempt {
		outdated = append(outdated, before.ID)
	}
	return outdated
}

// attempts lists the ids of all attempts that the runtime may hold.
func (p *pod) attempts() []runtime.ID {
	var ids []runtime.ID
	for _, h := range p.containers {
		for _, s := range []*runtime.Status{h.Last, h.Previous} {
			if s != nil {
				ids = append(ids, s.ID)
			}
		}
	}
	return ids
}

func (p *pod) running() []lifecycle.History {
	var running []lifecycle.History
	for h := range maps.Values(p.containers) {
		if h.Running() {
			running = append(running, h)
		}
	}
	return running
}

// runningIDs lists the attempts that run.
func (p *pod) runningIDs() []runtime.ID {
	var ids []runtime.ID
	for _, h := range p.running() {
		ids = append(ids, h.Last.ID)
	}
	return ids
}

// change changes what is known of a container.
func (p *pod) change(container string, change func(*lifecycle.History)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.containers[container]
	change(&h)
	p.containers[container] = h
}

// told stores that a decision to stop a container was carried out, which began at a time.
func (p *pod) told(s lifecycle.Stop, began time.Time) {
	p.change(s.ID.Container, func(h *lifecycle.History) { h.Told(s, began) })
}

// current returns the newest version, and whether the pod is gone from the API server.
func (p *pod) current() (api *corev1.Pod, gone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.api, p.absent || p.notFound
}

// firstTime reports whether the event has not been recorded before, and marks it as recorded.
func (p *pod) firstTime(key lifecycle.EventKey) bool {
	if p.recorded[key] {
		return false
	}
	if p.recorded == nil {
		p.recorded = map[lifecycle.EventKey]bool{}
	}
	p.recorded[key] = true
	return true
}

func (p *pod) markAbsent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.absent = true
}

func (p *pod) markStale() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stale = true
}
