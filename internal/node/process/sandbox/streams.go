package sandbox

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// childStreams are the standard streams of a command.
type childStreams struct {
	terminal bool
	// size is that of the terminal at first.
	size runtime.Size
	// ours are the ends for the caller: of standard input, output and error output, or of the terminal.
	ours                  []int
	stdin, stdout, stderr int
	// null is the standard input of a process that has none; it is not closed.
	null int
}

// theirs are the ends of the command.
func (s *childStreams) theirs() []int {
	var fds []int
	for _, fd := range []int{s.stdin, s.stdout, s.stderr} {
		if fd > 0 && fd != s.null {
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

// openPipes makes pipes. Without one for the standard input, the file null is it.
func (s *childStreams) openPipes(stdin bool, null *os.File) error {
	theirs := []*int{&s.stdin, &s.stdout, &s.stderr}
	if !stdin {
		s.null = int(null.Fd())
		s.stdin = s.null
		theirs = theirs[1:]
	}
	for _, end := range theirs {
		var ends [2]int
		if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
			return err
		}
		read, write := ends[0], ends[1]
		if end == &s.stdin {
			read, write = write, read
		}
		s.ours = append(s.ours, read)
		*end = write
	}
	return nil
}

// openFor makes the streams of a container, unless it has its terminal already, as one without image has.
func (s *childStreams) openFor(l *launch) error {
	s.terminal = l.container.TTY
	if len(s.ours) == 0 {
		var err error
		if s.terminal {
			err = s.openTerminalIn(l.root.Points().Dev, l.owner())
		} else {
			err = s.openPipes(l.container.Stdin, l.sandbox.null)
		}
		if err != nil {
			return err
		}
	}
	return l.keep(s)
}

// keep makes files of the ends that stay here. The other ends stay blocking, as programs expect.
func (l *launch) keep(s *childStreams) error {
	var files []*os.File
	for _, fd := range s.ours {
		if err := unix.SetNonblock(fd, true); err != nil {
			return err
		}
		files = append(files, os.NewFile(uintptr(fd), "container stream"))
	}
	s.ours = nil
	switch {
	case s.terminal:
		l.stdin, l.stdout = files[0], files[0]
	case l.container.Stdin:
		l.stdin, files = files[0], files[1:]
		fallthrough
	default:
		l.stdout, l.stderr = files[0], files[1]
	}
	return nil
}

// close closes all that was not kept. It may be called again.
func (s *childStreams) close() {
	closeAll(s.theirs())
	closeAll(s.ours)
	*s = childStreams{}
}

// openTerminal opens a new terminal of this machine.
func (s *childStreams) openTerminal(owner *runtime.User) error {
	const path = "/dev/ptmx"
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("open a terminal: %w", &os.PathError{Op: "open", Path: path, Err: err})
	}
	return s.useTerminal(fd, owner)
}

// openTerminalIn opens a new terminal of a container. Dev is its /dev, where containers may have changed everything.
func (s *childStreams) openTerminalIn(dev int, owner *runtime.User) error {
	fd, err := openMultiplexer(dev)
	if err != nil {
		return fmt.Errorf("open a terminal: %w", err)
	}
	return s.useTerminal(fd, owner)
}

// openMultiplexer follows no link, and opens nothing but what the kernel has in a file system of terminals.
func openMultiplexer(dev int) (int, error) {
	pts, err := unix.Openat(dev, "pts", unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: "/dev/pts", Err: err}
	}
	defer unix.Close(pts)
	var at unix.Statfs_t
	if err := unix.Fstatfs(pts, &at); err != nil {
		return -1, err
	}
	if at.Type != unix.DEVPTS_SUPER_MAGIC {
		return -1, errors.New("/dev/pts is something else in this container")
	}
	fd, err := unix.Openat(pts, "ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: "/dev/pts/ptmx", Err: err}
	}
	return fd, nil
}

// useTerminal takes the other end of a new terminal for the streams.
func (s *childStreams) useTerminal(fd int, owner *runtime.User) error {
	s.ours = append(s.ours, fd)
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return fmt.Errorf("unlock a terminal: %w", err)
	}
	peer, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		return fmt.Errorf("open the other end of a terminal: %w", errno)
	}
	s.stdin, s.stdout, s.stderr = int(peer), int(peer), int(peer)
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: s.size.Columns, Row: s.size.Rows}); err != nil {
		return fmt.Errorf("set the size of a terminal: %w", err)
	}
	if owner != nil {
		return unix.Fchown(int(peer), int(owner.UID), -1)
	}
	return nil
}
