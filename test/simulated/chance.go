package simulated

import (
	"flag"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/client"
)

// Main is the TestMain of a model. The histories are always the same, so that a test fails because of a change and not
// by chance: one of 25,000 fresh histories may still find an old fault. Flags of the command line are read later and
// take precedence.
func Main(m *testing.M, histories int) {
	_ = flag.Set("rapid.checks", strconv.Itoa(histories))
	_ = flag.Set("rapid.seed", "7")
	os.Exit(m.Run())
}

// Check plays random histories.
func Check(t *testing.T, happens func(*World, *rapid.T)) {
	rapid.Check(t, func(r *rapid.T) {
		switch why := Run(t, func(w *World) { happens(w, r) }).(type) {
		case nil:
		case Broken:
			r.Fatalf("%v", why)
		default:
			panic(why) // it is how rapid ends a history
		}
	})
}

// Action is something that may happen at any moment. Times is its weight: it is that many times as frequent as an
// action of weight 1.
type Action struct {
	Times int
	Name  string
	Do    func(*rapid.T)
}

// Actions returns the actions for rapid's Repeat: those on requests, watches and processes, and those of the model. A
// model's action replaces the common one of the same name. Start starts a process.
func (w *World) Actions(start func(), model ...Action) map[string]func(*rapid.T) {
	all := map[string]func(*rapid.T){}
	common := slices.DeleteFunc(w.common(start), func(a Action) bool {
		return slices.ContainsFunc(model, func(own Action) bool { return own.Name == a.Name })
	})
	for _, a := range append(common, model...) {
		for n := range a.Times {
			all[a.Name+" "+strconv.Itoa(n)] = a.Do
		}
	}
	return all
}

func (w *World) common(start func()) []Action {
	return []Action{
		{4, "serve a request", w.serveOne},
		{4, "serve all requests", w.serveAll},
		{4, "bring news", w.bringNews},
		{2, "rest", func(*rapid.T) { w.RunUntilIdle() }},
		{3, "a moment", func(t *rapid.T) {
			w.Pass(time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms")) * time.Millisecond)
		}},
		{1, "controller", func(t *rapid.T) { w.happenToController(t, start) }},
		{1, "watch", w.happenToWatch},
	}
}

// OneIn is true about once in n times. Rapid prefers small numbers, so a rare event must not be number one.
func OneIn(t *rapid.T, n int, what string) bool { return rapid.IntRange(1, n).Draw(t, what) == n }

func drawFault(t *rapid.T, r *Request) Fault {
	if !OneIn(t, 5, "fault") {
		return NoFault
	}
	faults := Faults
	if r.limited {
		faults = append([]Fault{Quota}, faults...)
	}
	return rapid.SampledFrom(faults).Draw(t, "which")
}

func (w *World) serveOne(t *rapid.T) {
	waiting := w.Waiting()
	if len(waiting) == 0 {
		t.Skip("no requests")
	}
	r := rapid.SampledFrom(waiting).Draw(t, "request")
	w.Serve(r, drawFault(t, r))
}

func (w *World) serveAll(t *rapid.T) {
	for n := rapid.IntRange(1, 30).Draw(t, "requests"); n > 0 && len(w.Waiting()) > 0; n-- {
		r := w.Waiting()[0]
		w.Serve(r, drawFault(t, r))
	}
}

func (w *World) drawFeed(t *rapid.T) Feed {
	if len(w.Processes) == 0 {
		t.Skip("no controller")
	}
	return rapid.SampledFrom(rapid.SampledFrom(w.Processes).Draw(t, "controller").Feeds()).Draw(t, "of")
}

func (w *World) bringNews(t *rapid.T) {
	feed := w.drawFeed(t)
	n := rapid.IntRange(1, 6).Draw(t, "news")
	w.Deliver(feed, n, OneIn(t, 3, "handlers late"))
}

// Deliver adds n changes to a cache and calls its handlers for all of them, or for only one where late is set.
func (w *World) Deliver(feed Feed, n int, late bool) {
	feed.Deliver(n)
	w.Logf("%d changes reach a cache; the handlers are called for all: %t", n, !late)
	for tell := map[bool]int{true: min(n, 1), false: n}[late]; tell > 0; tell-- {
		feed.Notify(1)
		w.Pause()
	}
}

func (w *World) happenToController(t *rapid.T, start func()) {
	what := rapid.SampledFrom([]string{"start", "kill", "kill", "leave", "hand over"}).Draw(t, "what")
	switch {
	case len(w.Processes) == 0:
		start()
	case w.Processes[0].Stopping() || what == "start":
		t.Skip("a controller runs")
	case what == "kill":
		w.Kill(w.Processes[0], func(*Request) bool { return rapid.Bool().Draw(t, "comes to pass") })
	case what == "leave":
		w.Stop(w.Processes[0])
	case what == "hand over":
		// The lease makes the next controller wait until the last write of the one before is done.
		w.Stop(w.Processes[0])
		for len(w.Waiting()) > 0 {
			w.Serve(w.Waiting()[0], drawFault(t, w.Waiting()[0]))
		}
		start()
	}
}

func (w *World) happenToWatch(t *rapid.T) {
	feed := w.drawFeed(t)
	if rapid.Bool().Draw(t, "broken") {
		w.Logf("a watch breaks")
		feed.Relist()
	} else {
		w.Logf("the handlers of a controller are called again for all objects")
		feed.Repeat()
	}
	w.Pause()
}

// DeleteOne has a user delete an object of a table.
func DeleteOne[T client.Object](w *World, t *rapid.T, x *Table[T]) {
	all := x.All()
	if len(all) == 0 {
		t.Skip("nothing to delete")
	}
	o := rapid.SampledFrom(all).Draw(t, x.kind.Singular)
	w.Logf("user deletes %s %s", x.kind.Kind, o.GetName())
	if err := x.Delete(o.GetNamespace(), o.GetName(), o.GetUID(), client.DeleteOptions{}); err != nil {
		w.Fail("deleting: %v", err)
	}
}

// Recover makes sure that a controller runs that was not told to stop. From here on no faults happen.
func (w *World) Recover(start func()) {
	w.Logf("from here on all goes well")
	if len(w.Processes) > 0 && w.Processes[0].Stopping() {
		w.RunUntilIdle()
	}
	if len(w.Processes) == 0 {
		start()
	}
}
