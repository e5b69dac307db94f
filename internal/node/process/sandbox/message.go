package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// maxMessage is how many bytes of a termination message are kept, as with a kubelet.
const maxMessage = 4096

// message is a termination message file. A former container that has kept a link or a descriptor must not write the message
// of a later one. So each attempt has a new file, except that a file which a container has not changed serves the next one
// of the same user: the processes of a user can write each other's files in any case.
type message struct {
	// fd is open since the file was made, which is read even if the container puts another file in its place.
	fd   int
	path string
	// owner is whom the file was made for; nil is the user of this process.
	owner *runtime.User
	// made is what the file was when it was new.
	made unix.Stat_t
	// shown is whether it is mounted in the view of its slot.
	shown bool
}

// slotsName is the directory of the termination message files in the state directory.
const slotsName = "slots"

// openSlots makes the directory anew. Where the files are mounted into containers, only this user can enter it. Without
// mounts, containers of other users open their files in it by name. Only this user can list it or make an entry in it.
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

// clearSlots removes the files of a former host. They are of no use, as its namespaces are gone.
func clearSlots(stateDir string) error {
	dir, err := beneath.Open(stateDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Remove(context.Background(), slotsName)
}

// newMessage makes the file for an attempt in a slot, instead of the one that it has. It belongs to user; nil is the user of
// this process.
func (b *Sandbox) newMessage(s *slot, user *runtime.User) error {
	s.dropMessage()
	s.attempts++
	path := filepath.Join(b.slots.dir, s.name+"."+strconv.Itoa(s.attempts))
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	s.message = &message{fd: fd, path: path, owner: user}
	if user != nil && isRoot() {
		if err := unix.Fchown(fd, int(user.UID), int(user.GID)); err != nil {
			return err
		}
	}
	// As with a kubelet, all users may write to it, because a container may become another user before it does. That is
	// safe where the file can be reached only by the container's own mount, and where a cgroup ensures that no process of
	// a former container has kept that.
	if b.views.usable() && s.leaf != nil {
		if err := unix.Fchmod(fd, 0o666); err != nil {
			return err
		}
	}
	return unix.Fstat(fd, &s.message.made)
}

func (s *slot) dropMessage() {
	s.message.close()
	s.message = nil
}

// isFor reports whether the file was made for user.
func (m *message) isFor(user *runtime.User) bool {
	return m != nil && reflect.DeepEqual(m.owner, user)
}

// isUnchanged reports whether the file has at most been read.
func (m *message) isUnchanged() bool {
	var now unix.Stat_t
	if unix.Fstat(m.fd, &now) != nil {
		return false
	}
	now.Atim = m.made.Atim
	return now == m.made
}

// read returns the termination message.
func (m *message) read() string {
	if m == nil {
		return ""
	}
	var stat unix.Stat_t
	if unix.Fstat(m.fd, &stat) != nil || stat.Size == 0 {
		return ""
	}
	buf := make([]byte, min(stat.Size, maxMessage))
	n, err := unix.Pread(m.fd, buf, 0)
	if err != nil {
		return ""
	}
	return string(buf[:n])
}

// close empties and removes the file. A process that has kept it open finds nothing in it.
func (m *message) close() {
	if m == nil {
		return
	}
	_ = unix.Ftruncate(m.fd, 0)
	unix.Close(m.fd)
	_ = unix.Unlink(m.path)
}
