package model_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// patience is how many requests a controller may send before it must have come to rest.
const patience = 400

// world is a server, the controllers that use it, and all others who do: the machinery of one history.
type world struct {
	server    *server
	requests  *requests
	processes []*process
	started   int
	// writer is the process whose request is being served; nil while others write.
	writer *process
	// serving is the request that is being answered.
	serving *request
	// served counts requests.
	served int
	ledger *ledger
	// words tell the history.
	words []string
}

func newWorld() *world {
	w := &world{server: newServer(), requests: &requests{}}
	w.ledger = newLedger(w)
	w.server.wrote = w.ledger.wrote
	return w
}

func (w *world) say(format string, args ...any) {
	w.words = append(w.words, time.Now().UTC().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// broken is a failure with its history. It travels as a panic through whatever is under way.
type broken struct{ error }

func (w *world) fail(format string, args ...any) {
	panic(broken{fmt.Errorf("%s\n%s\nHistory:\n  %s", fmt.Sprintf(format, args...), w.describe(), strings.Join(w.words, "\n  "))})
}

func (w *world) describe() string {
	var b strings.Builder
	w.server.jobs.each(func(j *batchv1.Job) { fmt.Fprintf(&b, "job %s %s: %s\n", j.Name, j.UID, describeStatus(j)) })
	w.server.pods.each(func(p *corev1.Pod) { fmt.Fprintf(&b, "%s\n", describePod(p)) })
	return b.String()
}

// pause lets all goroutines go on until they wait for the test, and the processes at rest take stock.
func (w *world) pause() {
	synctest.Wait()
	for _, p := range w.processes {
		if len(w.requests.of(p)) == 0 {
			p.knows.settle()
		}
	}
}

func (w *world) start(lateJobs, latePods int) {
	w.started++
	w.say("controller %d starts; its lists are late by %d and %d changes", w.started, lateJobs, latePods)
	w.processes = append(w.processes, startProcess(w.started, w.server, w.requests, lateJobs, latePods))
	w.pause()
}

// kill ends a process as a lost machine would: what it has asked for may still come to pass, unseen.
func (w *world) kill(p *process, comesToPass func(*request) bool) {
	w.say("controller %d is killed", p.number)
	p.dead.Store(true)
	for _, r := range w.requests.of(p) {
		w.requests.remove(r)
		w.serving = r
		if comesToPass(r) {
			w.say("  its request still comes to pass: %s %s", r.verb, r.object)
			_ = w.do(r)
		}
		w.serving = nil
		r.answer <- answer{err: errors.New("the process is dead")}
	}
	p.cancel()
	w.bury(p)
}

// leave tells a process to stop; it may take a while over its last requests.
func (w *world) leave(p *process) {
	w.say("controller %d is told to stop", p.number)
	p.leaving = true
	p.cancel()
	w.pause()
	w.buryStopped()
}

func (w *world) buryStopped() {
	for _, p := range slices.Clone(w.processes) {
		if p.leaving && len(w.requests.of(p)) == 0 {
			w.bury(p)
		}
	}
}

func (w *world) bury(p *process) {
	if err := <-p.stopped; err != nil {
		w.fail("controller %d: %v", p.number, err)
	}
	w.processes = slices.DeleteFunc(w.processes, func(other *process) bool { return other == p })
	w.ledger.buried(p)
}

// end stops all that runs, whatever came of the history.
func (w *world) end() {
	over := answer{err: errors.New("the history is over")}
	for _, p := range w.processes {
		p.dead.Store(true)
		p.cancel()
	}
	if w.serving != nil {
		w.serving.answer <- over
	}
	for _, r := range w.requests.list() {
		r.answer <- over
	}
	for _, p := range w.processes {
		<-p.stopped
	}
}

// fault is what goes wrong with a request.
type fault string

const (
	noFault fault = ""
	refused fault = "refused"
	busy    fault = "429"
	quota   fault = "quota"
	lost    fault = "carried out, but the answer is lost"
	timeout fault = "timed out, not carried out"
)

// do carries a request out.
func (w *world) do(r *request) (a answer) {
	w.writer = r.by
	if r.made != nil {
		w.ledger.creates(r)
	}
	a.object, a.err = r.do()
	w.writer = nil
	return a
}

func (w *world) serve(r *request, f fault) {
	w.served++
	w.requests.remove(r)
	w.serving = r
	a := answer{}
	switch f {
	case refused:
		a.err = apierrors.NewInternalError(errors.New("a fault"))
	case busy:
		a.err = apierrors.NewTooManyRequests("a fault", 1)
	case quota:
		a.err = apierrors.NewForbidden(pods, r.object, errors.New("exceeded quota"))
	case timeout:
		a.err = apierrors.NewTimeoutError("a fault", 1)
	default:
		a = w.do(r)
	}
	w.say("controller %d: %s %s %s%s", r.by.number, r.verb, r.object, f, result(a.err, f))
	if r.verb == "update status" && apierrors.IsInvalid(a.err) {
		// It would be refused again and again, and nothing be counted.
		w.fail("controller %d stores a status that the API refuses: %v", r.by.number, a.err)
	}
	switch {
	case f == lost:
		a = answer{err: apierrors.NewTimeoutError("a fault", 1)}
	case a.err != nil:
	default:
		w.answered(r, a)
	}
	w.serving = nil
	r.answer <- a
	w.pause()
	w.buryStopped()
}

// result tells how the server answered, where that is no fault's doing.
func result(err error, f fault) string {
	switch {
	case err == nil || (f != lost && f != noFault):
		return ""
	case apierrors.IsInvalid(err):
		return ": " + err.Error()
	}
	return ": " + string(apierrors.ReasonForError(err))
}

// answered gives a process what it must learn from the answer: what it created, and the status it stored.
func (w *world) answered(r *request, a answer) {
	switch {
	case r.made != nil:
		r.by.deeds.created++
		r.by.knows.created(a.object.(*corev1.Pod))
	case r.verb == "get job":
		r.by.found[r.object] = a.object.(*batchv1.Job)
	case r.verb == "get pod":
		r.by.asked[r.object] = a.object.GetResourceVersion()
	case r.verb == "modify pod":
		p := a.object.(*corev1.Pod)
		w.ledger.pods[p.UID].releaseKnown = !held(p)
	case r.verb == "update status":
		j := a.object.(*batchv1.Job)
		r.by.knows.toldJob(j)
		r.by.deeds.stored(w.ledger.jobs[j.UID].before(j), j)
	}
}

// work serves all requests without faults until every process has come to rest.
func (w *world) work() { w.workUntil(w.served + patience) }

func (w *world) workUntil(limit int) {
	for {
		waiting := w.requests.list()
		if len(waiting) == 0 {
			return
		}
		if w.served > limit {
			w.fail("the controller does not come to rest")
		}
		w.serve(waiting[0], noFault)
	}
}

// inform brings all processes up to date.
func (w *world) inform() {
	for _, p := range slices.Clone(w.processes) {
		p.jobs.show(p.jobs.behind())
		p.pods.show(p.pods.behind())
		p.pods.bookmark(w.server.version)
		for len(p.jobs.untold) > 0 {
			p.jobs.tell(1)
			w.pause()
		}
		for len(p.pods.untold) > 0 {
			p.pods.tell(1)
			w.pause()
		}
	}
}

// rest lets news and requests flow until nothing is left to do at this time.
func (w *world) rest() {
	limit := w.served + patience
	for {
		w.inform()
		if len(w.requests.list()) == 0 {
			return
		}
		w.workUntil(limit)
	}
}

// pass lets time go by.
func (w *world) pass(d time.Duration) {
	w.say("%s go by", d)
	time.Sleep(d)
	w.pause()
	w.buryStopped()
}

func versionOf(o metav1.Object) int {
	n, _ := strconv.Atoi(o.GetResourceVersion())
	return n
}

func sorted[T cmp.Ordered](list []T) []T { return slices.Sorted(slices.Values(list)) }

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
