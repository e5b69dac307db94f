package visible

import (
	"io"
	"sync"
	"unicode/utf8"
)

// Writer shows what is written to it as Text does, wherever the writes divide the text.
type Writer struct {
	to io.Writer

	mu    sync.Mutex
	exact bool
	// begun has the first bytes of a character whose last byte has not been written.
	begun []byte
}

// NewWriter returns a Writer to one of the streams of the program.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.exact {
		return w.to.Write(p)
	}
	text := append(w.begun, p...)
	whole := len(text) - unfinished(text)
	w.begun = append([]byte(nil), text[whole:]...)
	if err := w.show(text[:whole]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close shows the bytes of a character that has remained unfinished. The stream stays open.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := w.begun
	w.begun = nil
	return w.show(rest)
}

func (w *Writer) show(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	_, err := io.WriteString(w.to, Text(string(text)))
	return err
}

// Exact leaves all text unchanged from now on: a program reads it.
func (w *Writer) Exact() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.exact = true
}

// Unwrap returns the stream.
func (w *Writer) Unwrap() io.Writer { return w.to }

// Unchanged returns the stream behind a Writer, for what has to reach it as it is: the output of containers, which is passed on,
// and escape sequences of Stint's own. Text of others that is written there goes through Text first.
func Unchanged(w io.Writer) io.Writer {
	if shown, ok := w.(*Writer); ok {
		return shown.to
	}
	return w
}

// unfinished is how many bytes at the end of text may begin a character.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if end := text[len(text)-n:]; utf8.RuneStart(end[0]) {
			if utf8.FullRune(end) {
				return 0
			}
			return n
		}
	}
	return 0
}
