package cli

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// written remembers that something could not be written: many who print do not look.
type written struct {
	to io.Writer

	mu  sync.Mutex
	err error
}

func (w *written) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}

// readerGone reports whether the reader has had enough, as head has.
func (w *written) readerGone() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Is(w.err, syscall.EPIPE)
}

// failure is none where the reader has had enough.
func (w *written) failure() error {
	if w.err == nil || w.readerGone() {
		return nil
	}
	return fmt.Errorf("the output is not whole: %w", w.err)
}
