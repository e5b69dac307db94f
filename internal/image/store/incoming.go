package store

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"

	"golang.org/x/sys/unix"
)

// incomingLayer is the file of a layer that is read while it is downloaded. The download appends to it, and may empty it and
// begin again; a reader follows behind, and never gets the bytes of two downloads.
type incomingLayer struct {
	file *os.File

	mu      sync.Mutex
	changed *sync.Cond
	// done is how many bytes the file has; generation is how often the download has begun again.
	done       int64
	generation int
	// ended reports whether the download is over; failure is nil if the layer is complete and verified.
	ended   bool
	failure error
}

// deliverySize is how many bytes a reader waits for while the download goes on: fewer would wake the reader, and the child
// that it feeds, too often.
const deliverySize = 256 << 10

// errRestarted ends a reader when the download begins again.
var errRestarted = errors.New("the layer is downloaded again")

func newIncomingLayer(file *os.File) *incomingLayer {
	a := &incomingLayer{file: file}
	a.changed = sync.NewCond(&a.mu)
	return a
}

// setDone takes in how many bytes the file has; 0 just before the download begins again.
func (a *incomingLayer) setDone(done int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.done
	a.done = done
	if done < before {
		a.generation++
	}
	if done < before || done/deliverySize > before/deliverySize {
		a.changed.Broadcast()
	}
}

func (a *incomingLayer) end(failure error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended, a.failure = true, failure
	a.changed.Broadcast()
}

// reader returns a reader of the whole file, which waits for what is not there yet.
func (a *incomingLayer) reader() *incomingReader {
	a.mu.Lock()
	defer a.mu.Unlock()
	return &incomingReader{from: a, generation: a.generation}
}

type incomingReader struct {
	from       *incomingLayer
	generation int
	read       int64
	// stopped ends the reader. It is guarded by from.mu.
	stopped bool
}

// feed has cmd read from r. cmd.Wait does not wait for what the registry has not sent yet. After it, the caller calls stop.
func (r *incomingReader) feed(cmd *exec.Cmd) (stop func(), err error) {
	cmd.Stdin = nil
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	var feeding sync.WaitGroup
	feeding.Go(func() {
		_, _ = r.WriteTo(pipe) // If it fails, the child does, too, or outcome says why.
		pipe.Close()
	})
	return func() {
		r.stop()
		feeding.Wait()
	}, nil
}

func (r *incomingReader) stop() {
	r.from.mu.Lock()
	defer r.from.mu.Unlock()
	r.stopped = true
	r.from.changed.Broadcast()
}

// errStopped ends a reader that is not needed any more.
var errStopped = errors.New("the layer is no longer read")

// Read implements io.Reader.
func (r *incomingReader) Read(p []byte) (int, error) {
	there, err := r.await(min(deliverySize, int64(len(p))))
	if err != nil {
		return 0, err
	}
	n, err := r.from.file.ReadAt(p[:min(int64(len(p)), there)], r.read)
	r.read += int64(n)
	if n == 0 {
		return 0, err
	}
	// If the download has begun again, the bytes may be those of the new one.
	return n, r.current()
}

// WriteTo implements io.WriterTo.
func (r *incomingReader) WriteTo(w io.Writer) (int64, error) {
	if pipe, ok := w.(*os.File); ok {
		enlarge(pipe)
	}
	return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{r}, make([]byte, deliverySize))
}

// enlarge enlarges the buffer of a pipe. If the kernel refuses, the pipe only moves fewer bytes at a time.
func enlarge(pipe *os.File) {
	if raw, err := pipe.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 4*deliverySize) })
	}
}

// await waits for want unread bytes, or the end of the download, and returns how many there are.
func (r *incomingReader) await(want int64) (int64, error) {
	a := r.from
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		switch {
		case r.stopped:
			return 0, errStopped
		case a.generation != r.generation:
			return 0, errRestarted
		case a.ended && a.failure != nil:
			return 0, a.failure
		case a.done-r.read >= want || a.ended && a.done > r.read:
			return a.done - r.read, nil
		case a.ended:
			return 0, io.EOF
		}
		a.changed.Wait()
	}
}

func (r *incomingReader) current() error {
	r.from.mu.Lock()
	defer r.from.mu.Unlock()
	if r.from.generation != r.generation {
		return errRestarted
	}
	return nil
}

// outcome waits for the end of the download that r reads. It returns nil if the layer is complete and verified, errRestarted if the
// download has begun again, or why it failed.
func (r *incomingReader) outcome() error {
	a := r.from
	a.mu.Lock()
	defer a.mu.Unlock()
	for !a.ended && a.generation == r.generation {
		a.changed.Wait()
	}
	switch {
	case a.failure != nil:
		return a.failure
	case a.generation != r.generation:
		return errRestarted
	}
	return nil
}
