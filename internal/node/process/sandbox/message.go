package sandbox

import (
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// maxMessage is how much of a termination message counts.
const maxMessage = 4096

// message is the termination message file of one attempt. Each attempt has a fresh one: a link or a descriptor that
// somebody kept leads to nothing that is read again.
type message struct {
	// file is open since the file was made: whatever the container puts in its place, this one is read.
	file *os.File
	path string
}

// slotsName is the directory of the termination message files in the state directory.
const slotsName = "slots"

// openSlots makes the directory anew. Where files are shown by mounts, only this user can enter it. Without mounts
// containers of other users open their files in it by name; nobody but this user lists it or makes an entry in it.
func (b *Sandbox) openSlots() error {
	b.slots.dir = filepath.Join(b.config.StateDir, slotsName)
	if err := clearSlots(b.config.StateDir); err != nil {
		return err
	}
	if err := os.Mkdir(b.slots.dir, 0o700); err != nil {
		return err
	}
	if b.views.usable() || !isRoot() {
		return nil
	}
	return os.Chmod(b.slots.dir, 0o711)
}

// clearSlots removes what a former host left. It is of no use: its namespaces are gone.
func clearSlots(stateDir string) error {
	dir, err := beneath.Open(stateDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Remove(slotsName)
}

// newMessage makes the file for an attempt in a slot, which is unique while the attempt lasts. It belongs to user; nil is
// who runs this process.
func (b *Sandbox) newMessage(s *slot, user *runtime.User) error {
	s.attempts++
	path := filepath.Join(b.slots.dir, s.name+"."+strconv.Itoa(s.attempts))
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	s.message = &message{file: file, path: path}
	if user != nil && isRoot() {
		if err := file.Chown(int(user.UID), int(user.GID)); err != nil {
			return err
		}
	}
	// A container may become another user before it writes, as with a kubelet. That is safe where the file is reached
	// through the container's own mount alone, and where a cgroup makes sure that no former container has kept that.
	if b.views.usable() && s.leaf != nil {
		return file.Chmod(0o666)
	}
	return nil
}

// read returns what the container left for its status.
func (m *message) read() string {
	if m == nil {
		return ""
	}
	buf := make([]byte, maxMessage)
	n, err := m.file.ReadAt(buf, 0)
	if err != nil && err != io.EOF {
		return ""
	}
	return string(buf[:n])
}

// close removes the file, and what it holds for whoever still has a way to it.
func (m *message) close() {
	if m == nil {
		return
	}
	_ = m.file.Truncate(0)
	m.file.Close()
	os.Remove(m.path)
}
