package simulated

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/stint-dev/stint/internal/client"
)

// maxRequests is how many requests may be sent before all processes must have come to rest.
const maxRequests = 5000

// World is a server, the processes that use it, and the story of what happened.
type World struct {
	Server    *Server
	Processes []*Process
	// Describe adds the present state to a failure. May be nil.
	Describe func() string
	// Writer is the process whose request is being carried out; nil while others write.
	Writer *Process
	// Carrying is called before a request is carried out, Answered when its answer reaches the process, and
	// Paused when all goroutines wait for the test. Each may be nil.
	Carrying func(*Request)
	Answered func(*Request, client.Object, error)
	Paused   func()

	requests *requests
	started  int
	// serving is the request that is being answered, served how many there were.
	serving *Request
	served  int
	words   []string
}

// NewWorld is a world in which nothing has happened.
func NewWorld() *World { return &World{Server: NewServer(), requests: &requests{}} }

// Logf adds a line to the history.
func (w *World) Logf(format string, args ...any) {
	w.words = append(w.words, time.Now().UTC().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// Broken is a failure with its history. World.Fail panics with it.
type Broken struct{ error }

// Fail ends the history with a failure.
func (w *World) Fail(format string, args ...any) {
	state := ""
	if w.Describe != nil {
		state = w.Describe()
	}
	panic(Broken{fmt.Errorf("%s\n%s\nHistory:\n  %s", fmt.Sprintf(format, args...), state, strings.Join(w.words, "\n  "))})
}

// Run runs one history in a bubble of its own. It returns nil, or what the history panicked with: a Broken, or another
// value.
func Run(t *testing.T, happens func(*World)) (why any) {
	synctest.Test(t, func(*testing.T) {
		w := NewWorld()
		defer func() {
			why = recover()
			w.end()
		}()
		happens(w)
	})
	return why
}

// Pause lets all goroutines run until they wait for the test.
func (w *World) Pause() {
	synctest.Wait()
	if w.Paused != nil {
		w.Paused()
	}
}

// Start starts a process: build makes a controller on it and returns the function that runs it. Its informers begin
// with all stored objects, unless build has called their List.
func (w *World) Start(build func(*Process) func(context.Context) error) *Process {
	w.started++
	w.Logf("controller %d starts", w.started)
	p := &Process{Number: w.started, requests: w.requests, stopped: make(chan error, 1)}
	run := build(p)
	for _, f := range p.feeds {
		f.begin()
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	go func() { p.stopped <- run(ctx) }()
	w.Processes = append(w.Processes, p)
	w.Pause()
	return p
}

// Kill ends a process as the loss of its machine would: its pending requests get no answer, and those for which
// comesToPass returns true are carried out.
func (w *World) Kill(p *Process, comesToPass func(*Request) bool) {
	w.Logf("controller %d is killed", p.Number)
	p.dead.Store(true)
	for _, r := range w.requests.of(p) {
		w.requests.remove(r)
		w.serving = r
		if comesToPass(r) {
			w.Logf("  its request still comes to pass: %s %s %s", r.Verb, r.Kind, r.Name)
			w.do(r)
		}
		w.serving = nil
		r.answer <- answer{err: errors.New("the process is dead")}
	}
	p.cancel()
	w.reap(p)
}

// Stop tells a process to stop. It ends once its last requests are answered.
func (w *World) Stop(p *Process) {
	w.Logf("controller %d is told to stop", p.Number)
	p.stopping = true
	p.cancel()
	w.Pause()
	w.reapStopped()
}

func (w *World) reapStopped() {
	for _, p := range slices.Clone(w.Processes) {
		if p.stopping && len(w.requests.of(p)) == 0 {
			w.reap(p)
		}
	}
}

func (w *World) reap(p *Process) {
	if err := <-p.stopped; err != nil {
		w.Fail("controller %d: %v", p.Number, err)
	}
	w.Processes = slices.DeleteFunc(w.Processes, func(other *Process) bool { return other == p })
}

// end stops all processes, however the history ended.
func (w *World) end() {
	over := answer{err: errors.New("the history is over")}
	for _, p := range w.Processes {
		p.dead.Store(true)
		p.cancel()
	}
	if w.serving != nil {
		w.serving.answer <- over
	}
	for _, r := range w.requests.list() {
		r.answer <- over
	}
	for _, p := range w.Processes {
		<-p.stopped //nolint:errcheck // the history is over
	}
}

// do carries a request out.
func (w *World) do(r *Request) (a answer) {
	w.Writer = r.By
	if w.Carrying != nil {
		w.Carrying(r)
	}
	a.object, a.err = r.do()
	w.Writer = nil
	return a
}

// Waiting are the requests that wait, always in the same order.
func (w *World) Waiting() []*Request { return w.requests.list() }

// Serve answers a request.
func (w *World) Serve(r *Request, f Fault) {
	w.served++
	w.requests.remove(r)
	w.serving = r
	at := len(w.words)
	a := f.respond(r, func() answer { return w.do(r) })
	line := fmt.Sprintf("%scontroller %d: %s %s %s", time.Now().UTC().Format("15:04:05.000 "), r.By.Number, r.Verb, r.Kind, r.Name)
	switch {
	case f != NoFault:
		line += ": " + string(f)
	case apierrors.IsInvalid(a.err):
		line += ": " + a.err.Error()
	case a.err != nil:
		line += ": " + string(apierrors.ReasonForError(a.err))
	}
	w.words = slices.Insert(w.words, at, line)
	if f == NoFault && w.Answered != nil {
		w.Answered(r, a.object, a.err)
	}
	w.serving = nil
	r.answer <- a
	w.Pause()
	w.reapStopped()
}

// Inform delivers all changes to all processes.
func (w *World) Inform() {
	for _, p := range slices.Clone(w.Processes) {
		for _, f := range p.feeds {
			f.Deliver(f.Behind())
			f.bookmark(w.Server.version)
		}
		// The kind that comes first varies.
		for i := range p.feeds {
			f := p.feeds[(i+w.served)%len(p.feeds)]
			for f.Undelivered() > 0 {
				f.Notify(1)
				w.Pause()
			}
		}
	}
}

// RunUntilIdle delivers all changes and serves all requests, without faults, until nothing is left to do at this time.
func (w *World) RunUntilIdle() {
	limit := w.served + maxRequests
	for {
		w.Inform()
		if len(w.requests.list()) == 0 {
			return
		}
		w.workUntil(limit)
	}
}

// Work serves all requests, without faults and without delivering changes, until no process has one.
func (w *World) Work() { w.workUntil(w.served + maxRequests) }

func (w *World) workUntil(limit int) {
	for waiting := w.requests.list(); len(waiting) > 0; waiting = w.requests.list() {
		if w.served > limit {
			w.Fail("the controllers do not come to rest")
		}
		w.Serve(waiting[0], NoFault)
	}
}

// Pass lets time go by.
func (w *World) Pass(d time.Duration) {
	w.Logf("%s go by", d)
	time.Sleep(d)
	w.Pause()
	w.reapStopped()
}
