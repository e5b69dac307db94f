package output

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/stint-dev/stint/internal/visible"
)

// frame is the shortest time between two drawings. Changes in between are drawn together.
const frame = 40 * time.Millisecond

// Live shows a line per Job at the bottom of a terminal; everything else scrolls above.
type Live struct {
	size func() (width, height int)

	mu          sync.Mutex
	statusLines statusLines
	screen      screen
	pending     []string
	// width and height of the terminal at the last drawing.
	width, height int

	wake  chan struct{}
	close chan struct{}
	drawn chan struct{}
}

// NewLive draws on the terminal until Close. It does not read from it or change its mode, so Ctrl-C still sends a signal.
func NewLive(terminal *os.File) *Live {
	return newLive(terminal, func() (width, height int) {
		width, height, err := term.GetSize(terminal.Fd())
		if err != nil || width <= 0 || height <= 0 {
			return 80, 24
		}
		return width, height
	})
}

func newLive(to io.Writer, size func() (width, height int)) *Live {
	l := &Live{size: size, statusLines: statusLines{to: to}, wake: make(chan struct{}, 1), close: make(chan struct{}), drawn: make(chan struct{})}
	go l.draw()
	return l
}

// change changes the state under the lock, and requests a drawing.
func (l *Live) change(what func()) {
	l.mu.Lock()
	what()
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *Live) print(text string) { l.printUnchanged(visible.Text(text)) }

func (l *Live) printUnchanged(lines ...string) {
	l.change(func() { l.pending = append(l.pending, lines...) })
}

func (l *Live) draw() {
	defer close(l.drawn)
	for {
		select {
		case <-l.wake:
			l.drawNow()
		case <-l.close:
			return
		}
		select {
		case <-time.After(frame):
		case <-l.close:
			return
		}
	}
}

func (l *Live) drawNow() {
	width, height := l.size()
	l.mu.Lock()
	defer l.mu.Unlock()
	resized := width != l.width || height != l.height
	l.width, l.height = width, height
	l.statusLines.draw(l.pending, l.screen.lines(width, height), resized)
	l.pending = nil
}

// Note implements Output.
func (l *Live) Note(text string) { l.print(text) }

// Start implements Output.
func (l *Live) Start(job Job, how How) {
	if how == Replaced {
		l.print("job " + label(job) + ": created; the finished job of that name was deleted")
	}
	if how == Followed {
		l.print("job " + label(job) + ": already running from this manifest; following it")
	}
}

// Progress implements Output.
func (l *Live) Progress(p Progress) { l.change(func() { l.screen.update(p) }) }

// Log implements Output.
func (l *Live) Log(line Line) {
	l.printUnchanged(line.Prefix + OnScreen(string(line.Text)))
}

// PodFailed implements Output.
func (l *Live) PodFailed(f PodFailure) {
	l.print("job " + label(f.Job) + ": " + podSentence(f))
}

// PodWaiting implements Output.
func (l *Live) PodWaiting(w PodWait) { l.print(waitSentence(w)) }

// JobWaiting implements Output.
func (l *Live) JobWaiting(w JobWait) { l.print(orderSentence(w)) }

// Finish implements Output.
func (l *Live) Finish(r Result) {
	l.change(func() {
		l.pending = append(l.pending, conclusion(r)...)
		l.screen.finish(r.Job)
	})
}

// Close implements Output. It draws the last changes and removes the status lines.
func (l *Live) Close() error {
	close(l.close)
	<-l.drawn
	l.mu.Lock()
	defer l.mu.Unlock()
	l.statusLines.end(l.pending)
	if l.statusLines.err != nil {
		return fmt.Errorf("terminal display: %w", l.statusLines.err)
	}
	return nil
}
