package output

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/stint-dev/stint/internal/visible"
)

const (
	// progressEvery is the shortest time between two status lines without a terminal.
	progressEvery = 2 * time.Second
	// fewJobs is up to how many Jobs get a status line each. More share one.
	fewJobs = 5
)

// Plain writes log lines unchanged to out, and everything else to status.
type Plain struct {
	mu     sync.Mutex
	out    *bufio.Writer
	status io.Writer
	quiet  bool
	// endLines adds missing newlines to log lines, so that a status line does not continue them.
	endLines bool
	err      error

	jobs    map[Job]Progress
	printed map[Job]string
	// pulls has the images whose pull has been shown, and the time of the last line.
	pulls   map[string]time.Time
	last    time.Time
	started int
	ended   int
}

// NewPlain returns an output for pipes and files. Set endLines if out and status are the same file.
func NewPlain(out, status io.Writer, endLines bool) *Plain {
	return &Plain{out: bufio.NewWriter(out), status: status, endLines: endLines,
		jobs: map[Job]Progress{}, printed: map[Job]string{}, pulls: map[string]time.Time{}}
}

// NewQuiet is NewPlain with log lines and failures only.
func NewQuiet(out, status io.Writer, endLines bool) *Plain {
	p := NewPlain(out, status, endLines)
	p.quiet = true
	return p
}

// say writes a status line.
func (p *Plain) say(format string, args ...any) {
	fmt.Fprintln(p.status, visible.Text(fmt.Sprintf(format, args...)))
}

// Note implements Output.
func (p *Plain) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.quiet {
		p.say("%s", text)
	}
}

// Start implements Output.
func (p *Plain) Start(job Job, how How) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started++
	if p.quiet {
		return
	}
	switch how {
	case Replaced:
		p.say("job %s: created; the finished job of that name was deleted", label(job))
	case Followed:
		p.say("job %s: already running from this manifest; following it", label(job))
	default:
		p.say("job %s: created", label(job))
	}
}

// Progress implements Output. It prints what has changed, at most once in progressEvery.
func (p *Plain) Progress(now Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.jobs[now.Job] = now
	if p.last.IsZero() {
		p.last = now.At // quick Jobs need no status line
	}
	if p.quiet || now.At.Sub(p.last) < progressEvery {
		return
	}
	p.last = now.At
	if p.started > fewJobs {
		p.printSum()
		return
	}
	p.printEach()
}

func (p *Plain) printEach() {
	for _, job := range slices.SortedFunc(maps.Keys(p.jobs), func(a, b Job) int { return strings.Compare(label(a), label(b)) }) {
		progress := p.jobs[job]
		text := counts(progress)
		key := text + progress.RetryAt.String()
		if p.printed[job] == key {
			continue
		}
		p.printed[job] = key
		if retry := retry(progress); retry != "" {
			text += ", " + retry
		}
		if pace := pace(progress); pace != "" {
			text += ", " + pace
		}
		p.say("job %s: %s", label(job), text)
	}
}

func (p *Plain) printSum() {
	var active, succeeded, failed int32
	for _, progress := range p.jobs {
		active += progress.Active
		succeeded += progress.Succeeded
		failed += progress.Failed
	}
	text := fmt.Sprintf("%d of %d jobs ended; pods: %d active, %d succeeded, %d failed",
		p.ended, p.started, active, succeeded, failed)
	if p.printed[Job{}] != text {
		p.printed[Job{}] = text
		p.say("%s", text)
	}
}

// Log implements Output. It flushes each line, as the reader may be waiting for it.
func (p *Plain) Log(l Line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	p.write([]byte(l.Prefix))
	p.write(l.Text)
	if !l.Unterminated || l.Prefix != "" || p.endLines {
		p.write([]byte{'\n'})
	}
	p.keep(p.out.Flush())
}

func (p *Plain) write(b []byte) {
	_, err := p.out.Write(b)
	p.keep(err)
}

// keep records the first error, after which no more lines are written.
func (p *Plain) keep(err error) {
	if err != nil && p.err == nil {
		p.err = err
	}
}

// PodFailed implements Output.
func (p *Plain) PodFailed(f PodFailure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.quiet && p.started <= fewJobs {
		p.say("job %s: %s", label(f.Job), podSentence(f))
	}
}

// PodWaiting implements Output.
func (p *Plain) PodWaiting(w PodWait) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.quiet {
		p.say("%s", waitSentence(w))
	}
}

// JobWaiting implements Output.
func (p *Plain) JobWaiting(w JobWait) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.quiet {
		p.say("%s", orderSentence(w))
	}
}

// Finish implements Output.
func (p *Plain) Finish(r Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended++
	delete(p.jobs, r.Job)
	if p.quiet && r.Outcome == Complete {
		return
	}
	fmt.Fprintln(p.status, strings.Join(conclusion(r), "\n"))
}

// Close implements Output.
func (p *Plain) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep(p.out.Flush())
	if errors.Is(p.err, syscall.EPIPE) {
		return nil
	}
	if p.err != nil {
		return fmt.Errorf("write log lines: %w", p.err)
	}
	return nil
}
