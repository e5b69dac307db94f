package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// childStreams are the standard streams of a command.
type childStreams struct {
	terminal bool
	// ours are the ends for the caller: of standard input, output and error output, or of the terminal.
	ours                  []int
	stdin, stdout, stderr int
}

// theirs are the ends of the command.
func (s *childStreams) theirs() []int {
	var fds []int
	for _, fd := range []int{s.stdin, s.stdout, s.stderr} {
		if fd > 0 {
			fds = append(fds, fd)
		}
		if s.terminal {
			break
		}
	}
	return fds
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}

func (s *childStreams) openPipes() error {
	for i, theirs := range []*int{&s.stdin, &s.stdout, &s.stderr} {
		var ends [2]int
		if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
			return err
		}
		read, write := ends[0], ends[1]
		if i == 0 {
			read, write = write, read
		}
		s.ours = append(s.ours, read)
		*theirs = write
	}
	return nil
}

// openTerminal opens a new terminal in the mount namespace of the thread. What is at this path in the container need not be
// what Stint has put there.
func (s *childStreams) openTerminal(owner *runtime.User) error {
	const path = "/dev/ptmx"
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("open a terminal: %w", &os.PathError{Op: "open", Path: path, Err: err})
	}
	s.ours = append(s.ours, fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFCHR || stat.Rdev != unix.Mkdev(5, 2) {
		return fmt.Errorf("open a terminal: %s is something else in this container", path)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return fmt.Errorf("unlock a terminal: %w", err)
	}
	peer, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		return fmt.Errorf("open the other end of a terminal: %w", errno)
	}
	s.stdin, s.stdout, s.stderr = int(peer), int(peer), int(peer)
	if owner != nil {
		return unix.Fchown(int(peer), int(owner.UID), -1)
	}
	return nil
}
