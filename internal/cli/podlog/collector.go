// Package podlog merges the logs of a run's pods, line by line.
//
// Every attempt of every container is read once, to its end. At most maxStreams logs are read at a time: those of failed pods
// first, the others in the order in which they started. So a run of thousands of pods does not open thousands of streams, and
// the last lines of a failed pod need not wait for the logs of the others.
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
	// SinglePod leaves out the pod's name in prefixes, as the run has only one.
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
	// busy has the containers with a reader: their attempts are read one after the other.
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

// New returns a Collector. emit gets every line, trouble a message for each log that cannot be read. Both are called from
// several goroutines.
func New(ctx context.Context, source Source, opts Options, emit func(output.Line), trouble func(string)) *Collector {
	c := &Collector{ctx: ctx, source: source, emit: emit, warn: trouble, opts: opts,
		pods: map[types.UID]*corev1.Pod{}, seen: map[attempt]bool{}, busy: map[container]bool{},
		unread: map[types.UID]int{}}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// Observe gives the collector a newer version of a pod.
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

// prioritize moves the queued attempts of a failed pod to the priority queue.
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

// next dequeues the first attempt of a container that is not being read.
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

// Drain returns when all logs of the observed pods of a Job have been read, deleted pods included, or ctx ends.
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

// Await returns when this number of terminated pods of a Job has been observed, or ctx ends.
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

// wait returns when done returns true, or ctx has ended. done is called with the lock held.
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
