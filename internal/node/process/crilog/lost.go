package crilog

import (
	"bytes"
	"errors"
	"syscall"
	"time"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// batch describes records that are written together.
type batch struct {
	// head is the length of each record up to its tag.
	head int
	// output is how many bytes of the container's output are in all of them.
	output int
	// goesOn: the line of the last record goes on in the next one.
	goesOn bool
}

// write writes records to the log. If a piece of a line is lost, the line ends in the log where the piece was: nothing that
// comes later is taken for its rest.
func (s *Stream) write(records []byte, b batch, now time.Time) {
	n, err := 0, s.endCutOff(now)
	if err == nil {
		n, err = s.log.append(records, b.output, now)
	}
	if err == nil {
		s.goesOn = b.goesOn
		return
	}
	written := 0
	if n > 0 {
		written, s.goesOn = outputIn(records[:n], b.head)
	}
	s.cutOff, s.skipping = s.goesOn, b.goesOn
	lost := b.output - written
	if s.skipping {
		lost += len(s.pending)
		s.pending = s.pending[:0]
	}
	s.log.lose(lost, now, err)
}

// endCutOff ends a line in the log whose rest was lost.
func (s *Stream) endCutOff(now time.Time) error {
	if !s.cutOff {
		return nil
	}
	_, err := s.log.append(appendLine(nil, s.head(now), "F ", nil, nil), 0, now)
	if err == nil {
		s.cutOff, s.goesOn = false, false
	}
	return err
}

// skip leaves out what data has of a line of which a piece was lost.
func (s *Stream) skip(data []byte, now time.Time) []byte {
	end := bytes.IndexByte(data, '\n') + 1
	if s.skipping = end == 0; s.skipping {
		end = len(data)
	}
	s.log.lose(end, now, nil)
	return data[end:]
}

// outputIn returns how many bytes of the container's output are in records, and whether the line of the last one goes on.
func outputIn(records []byte, head int) (n int, goesOn bool) {
	for record := range bytes.Lines(records) {
		n += len(record) - head - len("F ")
		if goesOn = record[head] == 'P'; goesOn {
			n-- // The end of this record is not in the output.
		}
	}
	return n, goesOn
}

// OnLoss has f called when output is lost for the first time.
func (w *Writer) OnLoss(f func(runtime.LostOutput)) *Writer {
	w.onLoss = f
	return w
}

// lose counts output that is not in the log. The first loss tells the reason of all.
func (w *Writer) lose(output int, now time.Time, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count(int64(output), now, err)
}

// count is lose for a caller that holds w.mu.
func (w *Writer) count(output int64, since time.Time, err error) {
	first := w.lost == nil
	if first {
		w.lost = &runtime.LostOutput{Since: since, Reason: reasonOf(err)}
	}
	w.lost.Bytes += output
	if first && w.onLoss != nil {
		w.onLoss(*w.lost)
	}
}

// reasonOf leaves out the path of the log, which says nothing to the users of a server.
func reasonOf(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	return err.Error()
}
