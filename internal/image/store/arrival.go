package store

import (
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// incomingLayer is a file that is read while it is being fetched. Who fetches appends to it, and may have to begin it anew; who
// reads comes behind and never gets the bytes of two beginnings.
type incomingLayer struct {
	file *os.File

	mu      sync.Mutex
	changed *sync.Cond
	// done is how many bytes there are, beginning how often the file was begun anew.
	done      int64
	beginning int
	// ended: nothing more comes. Failure is nil if all has come and was verified.
	ended   bool
	failure error
}

// deliverySize is how much a reader gets at a time, as long as more comes: each time wakes it, and whom it reads for.
const deliverySize = 256 << 10

// errAnew ends the reading of what is of no use any more.
var errAnew = errors.New("the layer is fetched anew")

func newArrival(file *os.File) *incomingLayer {
	a := &incomingLayer{file: file}
	a.changed = sync.NewCond(&a.mu)
	return a
}

// told takes how many bytes the file has: 0 just before it is begun anew.
func (a *incomingLayer) told(done int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.done
	a.done = done
	if done < before {
		a.beginning++
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

// reader reads from the file's beginning to its end, for which it waits.
func (a *incomingLayer) reader() *arrivalReader {
	a.mu.Lock()
	defer a.mu.Unlock()
	return &arrivalReader{from: a, beginning: a.beginning}
}

type arrivalReader struct {
	from      *incomingLayer
	beginning int
	read      int64
}

// Read implements io.Reader.
func (r *arrivalReader) Read(p []byte) (int, error) {
	there, err := r.await(min(deliverySize, int64(len(p))))
	if err != nil {
		return 0, err
	}
	n, err := r.from.file.ReadAt(p[:min(int64(len(p)), there)], r.read)
	r.read += int64(n)
	if n == 0 {
		return 0, err
	}
	// What was begun anew meanwhile is no longer what it was.
	return n, r.current()
}

// WriteTo implements io.WriterTo.
func (r *arrivalReader) WriteTo(w io.Writer) (int64, error) {
	if pipe, ok := w.(*os.File); ok {
		enlarge(pipe)
	}
	return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{r}, make([]byte, deliverySize))
}

// enlarge has a pipe take more at a time. Where it may not, it takes less.
func enlarge(pipe *os.File) {
	if raw, err := pipe.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 4*deliverySize) })
	}
}

// await returns how many bytes there are that were not read: so many as are wanted, unless there are no more.
func (r *arrivalReader) await(want int64) (int64, error) {
	a := r.from
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		switch {
		case a.beginning != r.beginning:
			return 0, errAnew
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

func (r *arrivalReader) current() error {
	r.from.mu.Lock()
	defer r.from.mu.Unlock()
	if r.from.beginning != r.beginning {
		return errAnew
	}
	return nil
}

// outcome waits until it is known what has become of what r reads: nil if it is whole and verified, errAnew, or why it does not come.
func (r *arrivalReader) outcome() error {
	a := r.from
	a.mu.Lock()
	defer a.mu.Unlock()
	for !a.ended && a.beginning == r.beginning {
		a.changed.Wait()
	}
	switch {
	case a.failure != nil:
		return a.failure
	case a.beginning != r.beginning:
		return errAnew
	}
	return nil
}
