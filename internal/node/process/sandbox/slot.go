package sandbox

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/stint-dev/stint/internal/beneath"
)

// maxMessage is how much of a termination message counts.
const maxMessage = 4096

// maxIdleSlots bounds what is kept for later.
const maxIdleSlots = 64

// slot is what one container after another can use.
type slot struct {
	name string
	// leaf is nil without cgroups of version 2.
	leaf *leaf
	// message is the termination message file, messagePath its place on this machine.
	message     *os.File
	messagePath string
	// view is the mount namespace where the file is at the default path; nil until a container needs it.
	view *os.File
}

// slots are those that nobody uses.
type slots struct {
	dir  string
	mu   sync.Mutex
	idle []*slot
	made int
}

func (b *Box) openSlots() error {
	b.slots.dir = filepath.Join(b.config.StateDir, "slots")
	// What a former host left here is of no use: its namespaces are gone.
	state, err := beneath.Open(b.config.StateDir)
	if err != nil {
		return err
	}
	defer state.Close()
	if err := state.Remove(filepath.Base(b.slots.dir)); err != nil {
		return err
	}
	return os.Mkdir(b.slots.dir, 0o711)
}

func (b *Box) takeSlot() (*slot, error) {
	s := &b.slots
	s.mu.Lock()
	if n := len(s.idle); n > 0 {
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

func (b *Box) newSlot(name string) (_ *slot, err error) {
	s := &slot{name: name, messagePath: filepath.Join(b.slots.dir, name)}
	defer func() {
		if err != nil {
			s.discard()
		}
	}()
	s.message, err = os.OpenFile(s.messagePath, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	// Whoever the container runs as may write, whatever this process's umask is.
	if err = s.message.Chmod(0o666); err != nil {
		return nil, err
	}
	if b.unified != nil {
		if s.leaf, err = b.unified.newLeaf(name); err != nil {
			return nil, fmt.Errorf("make a cgroup: %w", err)
		}
	}
	return s, nil
}

// giveBack keeps the slot for the next container if this one has left no trace in it.
func (b *Box) giveBack(s *slot, clean bool) {
	if clean && s.message.Truncate(0) == nil {
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

func (s *slot) discard() {
	if s.view != nil {
		s.view.Close()
	}
	if s.message != nil {
		s.message.Close()
		os.Remove(s.messagePath)
	}
	if s.leaf != nil {
		pause := patience{limit: killPatience}
		for s.leaf.populated() && pause.next() {
		}
		_ = s.leaf.remove()
	}
}

// readMessage returns what the container left for its status.
func (s *slot) readMessage() string {
	buf := make([]byte, maxMessage)
	n, err := s.message.ReadAt(buf, 0)
	if err != nil && err != io.EOF {
		return ""
	}
	return string(buf[:n])
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
