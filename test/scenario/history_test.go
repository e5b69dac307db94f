package scenario_test

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/test/await"
)

// change is one write to one object.
type change struct {
	object  metav1.Object
	deleted bool
}

func (c change) version() int64 { return version(c.object) }

func version(o metav1.Object) int64 {
	v, _ := strconv.ParseInt(o.GetResourceVersion(), 10, 64)
	return v
}

// history is all that was written in a namespace.
type history struct {
	mu      sync.Mutex
	changes []change
	newest  map[types.UID]metav1.Object
	// changed is closed at the next change.
	changed chan struct{}
	// gaps is set where writes may be missing, as the API server was restarted.
	gaps bool
}

func (h *history) add(c change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	// After a watch broke, objects may be shown again.
	if last := h.newest[c.object.GetUID()]; last != nil && last.GetResourceVersion() == c.object.GetResourceVersion() && !c.deleted {
		return
	}
	h.changes = append(h.changes, c)
	if c.deleted {
		delete(h.newest, c.object.GetUID())
	} else {
		h.newest[c.object.GetUID()] = c.object
	}
	close(h.changed)
	h.changed = make(chan struct{})
}

// hasGaps reports whether writes may be missing.
func (h *history) hasGaps() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.gaps
}

// until waits until done returns "". At the limit of all waits it returns what done says is missing.
func (h *history) until(done func(*history) string) (missing string) {
	timeout := time.NewTimer(await.Limit)
	defer timeout.Stop()
	for {
		h.mu.Lock()
		missing, changed := done(h), h.changed
		h.mu.Unlock()
		if missing == "" {
			return ""
		}
		select {
		case <-changed:
		case <-timeout.C:
			return missing
		}
	}
}

// ordered returns the changes in the order of the writes, which the watches of different kinds do not keep.
func (h *history) ordered() []change {
	h.mu.Lock()
	defer h.mu.Unlock()
	sorted := slices.Clone(h.changes)
	slices.SortStableFunc(sorted, func(a, b change) int { return cmp.Compare(a.version(), b.version()) })
	return sorted
}

// pods returns the pods that exist, lowest index and oldest first. Call it, and all of the following, from until only.
func (h *history) pods(which func(*corev1.Pod) bool) []*corev1.Pod {
	var list []*corev1.Pod
	for _, o := range h.newest {
		if p, is := o.(*corev1.Pod); is && which(p) {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(indexOf(a), indexOf(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return list
}

func indexOf(p *corev1.Pod) int {
	i, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return -1
	}
	return i
}

// events returns the events about an object, in the order in which they were first written. A repetition only raises
// the count.
func (h *history) events(about types.UID) []*corev1.Event {
	var list []*corev1.Event
	seen := map[types.UID]bool{}
	for _, c := range h.changes {
		e, is := c.object.(*corev1.Event)
		if is && !seen[e.UID] && e.InvolvedObject.UID == about {
			seen[e.UID] = true
			list = append(list, e)
		}
	}
	return list
}

// shows returns "" if the history has this state of an object or a newer one, and otherwise what is missing.
func (h *history) shows(o metav1.Object) string {
	newest := h.newest[o.GetUID()]
	if newest != nil && version(newest) >= version(o) {
		return ""
	}
	// An object that was deleted while a watch was broken is shown in an older state.
	for _, c := range h.changes {
		if c.object.GetUID() == o.GetUID() && (c.deleted || c.version() >= version(o)) {
			return ""
		}
	}
	return "the watch to show " + o.GetName() + " as of version " + o.GetResourceVersion()
}
