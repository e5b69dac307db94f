package sandbox

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// input is what is left of a container's standard input: the write end, or the terminal.
type input struct {
	mu       sync.Mutex
	file     *os.File
	terminal bool
	// once closes it when the first client that has got it does so.
	once bool
}

// take returns the file and leaves nothing.
func (i *input) take() *os.File {
	i.mu.Lock()
	defer i.mu.Unlock()
	file := i.file
	i.file = nil
	return file
}

// Input opens the container's standard input, or its terminal. It opens /dev/null if there is neither, or the input is not
// wanted. The caller closes it.
func (p *Process) Input(wanted bool) (fd int, err error) {
	p.input.mu.Lock()
	defer p.input.mu.Unlock()
	if p.input.file == nil || !wanted && !p.input.terminal {
		return unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	}
	conn, err := p.input.file.SyscallConn()
	if err != nil {
		return -1, err
	}
	controlled := conn.Control(func(old uintptr) { fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) })
	if controlled != nil {
		return -1, controlled
	}
	if p.input.once && !p.input.terminal {
		p.input.file.Close()
		p.input.file = nil
	}
	return fd, err
}

// closeStreams closes files, of which some may be nil or the same.
func closeStreams(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
