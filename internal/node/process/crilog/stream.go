package crilog

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// maxLine is how many bytes of a line one line of the log holds.
const maxLine = 16 << 10

// Stream writes what it reads from one pipe as lines of the log.
type Stream struct {
	log     *Writer
	name    string
	pending []byte
	// goesOn: the line of the stream's last record in the log goes on in its next one.
	goesOn bool
	// cutOff: that next record was lost.
	cutOff bool
	// skipping: a piece of the line that is being read was lost, so the rest of the line is left out as well.
	skipping bool
	// also gets what was read after it was written to the log; it may be nil.
	also func(data []byte)
}

// NewStream returns the stream "stdout" or "stderr" of log.
func NewStream(log *Writer, name string) *Stream {
	return &Stream{log: log, name: name}
}

// Also has f get the data of each read as well.
func (s *Stream) Also(f func(data []byte)) *Stream {
	s.also = f
	return s
}

// chunks are buffers that all streams share, so that a container that prints nothing needs none.
var chunks = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// Copy reads until every writer has closed the pipe. When the pipe's deadline passes, it reads what is in the pipe then and
// returns.
func (s *Stream) Copy(pipe *os.File) error {
	defer s.flush()
	conn, err := pipe.SyscallConn()
	if err != nil {
		return err
	}
	for err == nil {
		err = s.readChunk(conn)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = s.drain(conn)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// readChunk waits without a buffer and takes one only while there is something to read.
func (s *Stream) readChunk(conn syscall.RawConn) error {
	var failed error
	err := conn.Read(func(fd uintptr) bool {
		_, failed = s.readOnce(int(fd))
		if errors.Is(failed, syscall.EAGAIN) {
			failed = nil
			return false
		}
		return true
	})
	if failed != nil {
		return failed
	}
	return err
}

// readOnce reads once from the pipe and writes the lines to the log.
func (s *Stream) readOnce(fd int) (int, error) {
	chunk := chunks.Get().(*[]byte)
	defer chunks.Put(chunk)
	n, err := syscall.Read(fd, *chunk)
	switch {
	case err == syscall.EINTR:
		return 0, nil
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	s.take((*chunk)[:n], time.Now())
	if s.also != nil {
		s.also((*chunk)[:n])
	}
	return n, nil
}

// take writes the whole lines of data and keeps the rest for later.
func (s *Stream) take(data []byte, now time.Time) {
	if s.skipping {
		data = s.skip(data, now)
	}
	head, taken := s.head(now), len(s.pending)+len(data)
	var out []byte
	goesOn := false
	for {
		end := bytes.IndexByte(data, '\n')
		rest := data
		if end >= 0 {
			rest = data[:end]
		}
		for len(s.pending)+len(rest) > maxLine {
			n := maxLine - len(s.pending)
			out = appendLine(out, head, "P ", s.pending, rest[:n])
			s.pending, rest, goesOn = s.pending[:0], rest[n:], true
		}
		if end < 0 {
			s.pending = append(s.pending, rest...)
			break
		}
		out = appendLine(out, head, "F ", s.pending, rest)
		s.pending, data, goesOn = s.pending[:0], data[end+1:], false
	}
	if len(out) > 0 {
		s.write(out, batch{len(head), taken - len(s.pending), goesOn}, now)
	}
}

// flush writes the last line if it has no newline.
func (s *Stream) flush() {
	if len(s.pending) > 0 {
		now := time.Now()
		head := s.head(now)
		s.write(appendLine(nil, head, "F ", s.pending, nil), batch{len(head), len(s.pending), false}, now)
		s.pending = nil
	}
}

func (s *Stream) head(now time.Time) []byte {
	head := now.UTC().AppendFormat(make([]byte, 0, 48), time.RFC3339Nano)
	head = append(head, ' ')
	head = append(head, s.name...)
	return append(head, ' ')
}

func appendLine(out, head []byte, tag string, first, second []byte) []byte {
	out = append(out, head...)
	out = append(out, tag...)
	out = append(out, first...)
	out = append(out, second...)
	return append(out, '\n')
}
