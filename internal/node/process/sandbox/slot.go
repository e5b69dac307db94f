package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

// maxIdleSlots bounds how many slots are kept for later containers.
const maxIdleSlots = 64

// slot is what one container after another uses.
type slot struct {
	name string
	// leaf is nil without cgroups of version 2.
	leaf *leaf
	// view is a mount namespace with a place for the termination message file; nil until a container needs it.
	view *slotView
	// message is the termination message file of the attempt that has the slot, or one that was left for the next.
	message *message
	// attempts counts the attempts that have had a message file.
	attempts int
}

// slots are those that no container uses.
type slots struct {
	dir  string
	mu   sync.Mutex
	idle []*slot
	made int
}

// takeSlot takes a slot for a container. One with a memory limit gets a new cgroup: what another container has left in its memory
// would count.
func (b *Sandbox) takeSlot(want limits) (*slot, error) {
	s := &b.slots
	s.mu.Lock()
	if n := len(s.idle); n > 0 && (want.memory == 0 || b.unified == nil) {
		slot := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		return slot, nil
	}
	s.made++
	name := strconv.Itoa(s.made)
	s.mu.Unlock()
	return b.newSlot(name)
}

func (b *Sandbox) newSlot(name string) (_ *slot, err error) {
	s := &slot{name: name}
	defer func() {
		if err != nil {
			s.discard()
		}
	}()
	if b.unified != nil {
		if s.leaf, err = b.unified.newLeaf(name); err != nil {
			return nil, fmt.Errorf("make a cgroup: %w", err)
		}
	}
	return s, nil
}

// giveBack keeps the slot for the next container if this one has left no trace in it.
func (b *Sandbox) giveBack(s *slot, clean bool) {
	if s.view.changed() {
		// The next container must not see what this one has mounted.
		s.view.close()
		s.view = nil
	}
	if !s.keepsMessage() {
		s.dropMessage()
	}
	if clean {
		b.slots.mu.Lock()
		if len(b.slots.idle) < maxIdleSlots {
			b.slots.idle = append(b.slots.idle, s)
			s = nil
		}
		b.slots.mu.Unlock()
	}
	if s != nil {
		s.discard()
	}
}

// keepsMessage reports whether the termination message file may serve the next container: it is in its place, unchanged, and
// a cgroup ensures that no process of this container is left. What a container has written is dropped here, as it takes room.
func (s *slot) keepsMessage() bool {
	return s.view != nil && s.leaf != nil && s.message != nil && s.message.shown && s.message.isUnchanged()
}

func (s *slot) discard() {
	s.view.close()
	s.dropMessage()
	if s.leaf != nil {
		pause := killWait{limit: killTimeout}
		for s.leaf.populated() && pause.next() {
		}
		_ = s.leaf.remove()
	}
}

func (s *slots) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, slot := range s.idle {
		slot.discard()
	}
	s.idle = nil
	os.Remove(s.dir)
}
