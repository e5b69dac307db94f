package command

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// Output records the first write error, as most callers ignore the errors of fmt.Fprint.
type Output struct {
	To io.Writer

	mu  sync.Mutex
	err error
}

func (w *Output) Write(p []byte) (int, error) {
	n, err := w.To.Write(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}

// Unwrap returns the stream.
func (w *Output) Unwrap() io.Writer { return w.To }

// ReaderGone reports whether the reader has closed the pipe, as head does.
func (w *Output) ReaderGone() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Is(w.err, syscall.EPIPE)
}

// Failure returns the first write error, or nil if the reader has closed the pipe.
func (w *Output) Failure() error {
	if w.err == nil || w.ReaderGone() {
		return nil
	}
	return fmt.Errorf("the output is incomplete: %w", w.err)
}
