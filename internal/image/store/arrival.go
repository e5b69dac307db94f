package store

import (
	"errors"
	"io"
	"os"
	"sync"
)

// arrival is a file that is read while it is being fetched. Who fetches appends to it, and may have to begin it anew; who
// reads comes behind and never gets the bytes of two beginnings.
type arrival struct {
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

// errAnew ends the reading of what is of no use any more.
var errAnew = errors.New("the layer is fetched anew")

func newArrival(file *os.File) *arrival {
	a := &arrival{file: file}
	a.changed = sync.NewCond(&a.mu)
	return a
}

// told takes how many bytes the file has: 0 just before it is begun anew.
func (a *arrival) told(done int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if done < a.done {
		a.beginning++
	}
	a.done = done
	a.changed.Broadcast()
}

func (a *arrival) end(failure error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended, a.failure = true, failure
	a.changed.Broadcast()
}

// reader reads from the file's beginning to its end, for which it waits.
func (a *arrival) reader() *arrivalReader {
	a.mu.Lock()
	defer a.mu.Unlock()
	return &arrivalReader{from: a, beginning: a.beginning}
}

type arrivalReader struct {
	from      *arrival
	beginning int
	read      int64
}

// Read implements io.Reader.
func (r *arrivalReader) Read(p []byte) (int, error) {
	there, err := r.await()
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

// await returns how many bytes there are that were not read.
func (r *arrivalReader) await() (int64, error) {
	a := r.from
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		switch {
		case a.beginning != r.beginning:
			return 0, errAnew
		case a.ended && a.failure != nil:
			return 0, a.failure
		case a.done > r.read:
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
