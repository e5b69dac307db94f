// Package podlog brings the logs of a run's pods together, line by line.
//
// Every attempt at every container is read once, to its end. At most maxStreams are read at a time; pods that failed
// come first, then who started first. So a run of thousands of pods opens no thousands of streams, and the last lines
// of a pod that failed are not lost behind the chatter of those that did not.
//
//	Observe(pod) → queue (failed | others) → up to maxStreams readers → emit(line)
package podlog

import (
	"context"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/podstatus"
)

// maxStreams bounds the logs that are read at the same time.
const maxStreams = 64

// Options choose which logs to read and how lines are shown.
type Options struct {
	// FailedOnly leaves out pods that did not fail.
	FailedOnly bool
	// SinglePod: no prefix names the pod, since there is one.
	SinglePod bool
}

// Collector reads logs until it is drained.
type Collector struct {
	ctx    context.Context
	source Source
	emit   func(output.Line)
	warn   func(string)
	opts   Options

	mu      sync.Mutex
	changed *sync.Cond
	pods    map[types.UID]*corev1.Pod
	seen    map[attempt]bool
	// busy holds containers with a reader: attempts are read one after the other.
	busy     map[container]bool
	priority []attempt
	waiting  []attempt
	readers  int
	// unread counts the attempts of a pod that are queued or being read.
	unread map[types.UID]int
}

type container struct {
	pod  types.UID
	name string
}

// New makes a Collector. emit gets every line and trouble what could not be read; both from many goroutines.
func New(ctx context.Context, source Source, opts Options, emit func(output.Line), trouble func(string)) *Collector {
	c := &Collector{ctx: ctx, source: source, emit: emit, warn: trouble, opts: opts,
		pods: map[types.UID]*corev1.Pod{}, seen: map[attempt]bool{}, busy: map[container]bool{},
		unread: map[types.UID]int{}}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// Observe tells the collector how a pod stands now.
func (c *Collector) Observe(pod *corev1.Pod) {
	failed := pod.Status.Phase == corev1.PodFailed
	if c.opts.FailedOnly && !failed {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pods[pod.UID] = pod
	if failed {
		c.prioritize(pod.UID)
	}
	for s := range podstatus.Containers(pod) {
		for _, a := range readable(pod, s) {
			if c.seen[a] {
				continue
			}
			c.seen[a] = true
			c.unread[pod.UID]++
			if failed {
				c.priority = append(c.priority, a)
			} else {
				c.waiting = append(c.waiting, a)
			}
		}
	}
	c.startReaders()
	c.changed.Broadcast()
}

// prioritize moves what waits of a pod that has failed to the front.
func (c *Collector) prioritize(pod types.UID) {
	kept := c.waiting[:0]
	for _, a := range c.waiting {
		if a.pod == pod {
			c.priority = append(c.priority, a)
			continue
		}
		kept = append(kept, a)
	}
	c.waiting = kept
}

func (c *Collector) startReaders() {
	for c.readers < maxStreams {
		a, ok := c.next()
		if !ok {
			return
		}
		c.readers++
		go c.work(a)
	}
}

// next takes the first attempt whose container nobody reads.
func (c *Collector) next() (attempt, bool) {
	for _, queue := range []*[]attempt{&c.priority, &c.waiting} {
		for i, a := range *queue {
			if c.busy[container{a.pod, a.container}] {
				continue
			}
			c.busy[container{a.pod, a.container}] = true
			*queue = slices.Delete(*queue, i, i+1)
			return a, true
		}
	}
	return attempt{}, false
}

func (c *Collector) work(a attempt) {
	c.read(a)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, container{a.pod, a.container})
	if c.unread[a.pod]--; c.unread[a.pod] == 0 {
		delete(c.unread, a.pod)
	}
	c.readers--
	c.startReaders()
	c.changed.Broadcast()
}

func (c *Collector) pod(uid types.UID) *corev1.Pod {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pods[uid]
}

// Drain returns when all that was observed of a Job's pods has been read, those that are gone included, or ctx ends.
func (c *Collector) Drain(ctx context.Context, job types.UID) {
	c.wait(ctx, func() bool {
		for uid := range c.unread {
			if owner := metav1.GetControllerOfNoCopy(c.pods[uid]); owner != nil && owner.UID == job {
				return false
			}
		}
		return true
	})
}

// Await returns when so many pods of a Job have been observed that have ended, or ctx ends.
func (c *Collector) Await(ctx context.Context, job types.UID, pods int) {
	c.wait(ctx, func() bool {
		n := 0
		for _, pod := range c.pods {
			if owner := metav1.GetControllerOfNoCopy(pod); owner != nil && owner.UID == job && podstatus.IsTerminated(pod) {
				n++
			}
		}
		return n >= pods
	})
}

// DrainAll is Drain for every pod.
func (c *Collector) DrainAll(ctx context.Context) {
	c.wait(ctx, func() bool { return len(c.unread) == 0 })
}

// wait returns when done does, or ctx has ended. done is called with the lock held.
func (c *Collector) wait(ctx context.Context, done func() bool) {
	stop := context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.changed.Broadcast()
	})
	defer stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !done() && ctx.Err() == nil {
		c.changed.Wait()
	}
}
