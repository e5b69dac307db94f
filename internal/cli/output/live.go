package output

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// Live keeps a line per Job at the foot of a terminal; everything else scrolls above it and stays.
type Live struct {
	program *tea.Program
	done    chan error

	mu      sync.Mutex
	pending []string
	wake    chan struct{}
	flushed chan struct{}
	closed  bool
}

// NewLive takes the terminal until Close. It reads no keys, so Ctrl-C stays a signal.
func NewLive(terminal io.Writer) *Live {
	l := &Live{done: make(chan error, 1), wake: make(chan struct{}, 1), flushed: make(chan struct{})}
	l.program = tea.NewProgram(newScreen(), tea.WithOutput(terminal), tea.WithInput(nil),
		tea.WithoutSignalHandler(), tea.WithEnvironment(silentTerminal(os.Environ())))
	go func() {
		_, err := l.program.Run()
		l.done <- err
	}()
	go l.printLoop()
	return l
}

// silentTerminal describes the terminal as one that is not to be asked for its abilities: nobody would read the
// answers, and the shell would take them for keys.
func silentTerminal(environ []string) []string {
	var kept []string
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case "TERM_PROGRAM", "WT_SESSION", "SSH_TTY":
			continue
		case "TERM":
			for _, talkative := range []string{"ghostty", "wezterm", "alacritty", "kitty", "rio"} {
				if strings.Contains(value, talkative) {
					v = "TERM=xterm-256color"
				}
			}
		}
		kept = append(kept, v)
	}
	return append(kept, "SSH_TTY=none")
}

// print queues lines for above the display. A burst of them is written in one go.
func (l *Live) print(lines ...string) {
	l.mu.Lock()
	l.pending = append(l.pending, lines...)
	closed := l.closed
	l.mu.Unlock()
	if closed {
		return
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *Live) printLoop() {
	defer close(l.flushed)
	for range l.wake {
		l.mu.Lock()
		lines := l.pending
		l.pending = nil
		l.mu.Unlock()
		for batch := range slices.Chunk(lines, 500) {
			l.printAbove(batch)
		}
	}
}

// Note implements Output.
func (l *Live) Note(text string) { l.print(Visible(text)) }

// Start implements Output.
func (l *Live) Start(job Job, how How) {
	if how == Replaced {
		l.print("job " + label(job) + ": created anew; the finished one of that name was deleted")
	}
	if how == Followed {
		l.print("job " + label(job) + ": runs already from this manifest; following it")
	}
	l.program.Send(Progress{Job: job})
}

// Progress implements Output.
func (l *Live) Progress(p Progress) { l.program.Send(p) }

// Log implements Output.
func (l *Live) Log(line Line) {
	l.print(line.Prefix + OnScreen(string(line.Text)))
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
	l.print(append([]string{ending(r)}, explain(r)...)...)
	l.program.Send(r)
}

// Close implements Output.
func (l *Live) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	close(l.wake)
	<-l.flushed
	l.mu.Lock()
	rest := l.pending
	l.mu.Unlock()
	if len(rest) > 0 {
		l.printAbove(rest)
	}
	l.program.Quit()
	if err := <-l.done; err != nil {
		return fmt.Errorf("terminal display: %w", err)
	}
	return nil
}

// printAbove sends the message itself: as a command of the model it might be overtaken by the next one.
func (l *Live) printAbove(lines []string) {
	l.program.Send(tea.Println(strings.Join(lines, "\n"))())
}
