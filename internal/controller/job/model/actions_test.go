package model_test

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/client"
)

// actions are all that may happen at any moment. Those with several entries happen that much more often.
func (w *world) actions() map[string]func(*rapid.T) {
	weights := []struct {
		times int
		name  string
		do    func(*rapid.T)
	}{
		{4, "serve a request", w.serveOne},
		{4, "serve all requests", w.serveAll},
		{3, "bring news", w.bringNews},
		{3, "rest", func(*rapid.T) { w.rest() }},
		{2, "a moment", func(t *rapid.T) {
			w.pass(time.Duration(rapid.IntRange(1, 2000).Draw(t, "ms")) * time.Millisecond)
		}},
		{2, "time", func(t *rapid.T) { w.pass(time.Duration(rapid.IntRange(5, 700).Draw(t, "seconds")) * time.Second) }},
		{6, "pods", w.happenToPods},
		{2, "user", w.userActs},
		{1, "another Job", w.happenToOthers},
		{1, "controller", w.happenToController},
		{1, "watch", w.happenToWatch},
		{1, "collect garbage", func(*rapid.T) { w.collectGarbage() }},
	}
	all := map[string]func(*rapid.T){}
	for _, x := range weights {
		for n := range x.times {
			all[x.name+" "+strconv.Itoa(n)] = x.do
		}
	}
	return all
}

// drawFault draws what goes wrong with one request.
func (w *world) drawFault(t *rapid.T, r *request) fault {
	if !one(t, 8, "fault") {
		return noFault
	}
	faults := []fault{refused, busy, lost, timeout}
	if r.made != nil {
		faults = append(faults, quota)
	}
	return rapid.SampledFrom(faults).Draw(t, "which")
}

func (w *world) serveOne(t *rapid.T) {
	waiting := w.requests.list()
	if len(waiting) == 0 {
		t.Skip("no requests")
	}
	r := rapid.SampledFrom(waiting).Draw(t, "request")
	w.serve(r, w.drawFault(t, r))
}

func (w *world) serveAll(t *rapid.T) {
	for n := rapid.IntRange(1, 30).Draw(t, "requests"); n > 0; n-- {
		waiting := w.requests.list()
		if len(waiting) == 0 {
			return
		}
		w.serve(waiting[0], w.drawFault(t, waiting[0]))
	}
}

func (w *world) bringNews(t *rapid.T) {
	p := w.drawProcess(t)
	n, ofPods := rapid.IntRange(1, 6).Draw(t, "news"), rapid.Bool().Draw(t, "of pods")
	late := one(t, 3, "handlers late")
	if ofPods {
		w.showStatuses(p, n)
		bring(w, p.pods, n, late)
	} else {
		bring(w, p.jobs, n, late)
	}
}

// showStatuses keeps a process from seeing the next n changes of pods before the statuses that other processes stored
// ahead of them. A process cannot know of these, and would work for a Job that ended.
func (w *world) showStatuses(p *process, n int) {
	if p.pods.behind() == 0 {
		return
	}
	last := p.pods.table.log[p.pods.seen+min(n, p.pods.behind())-1].version
	for i := len(p.jobs.table.log) - 1; i >= p.jobs.seen; i-- {
		if c := p.jobs.table.log[i]; c.version < last && w.ledger.statusBy[c.version] != nil && w.ledger.statusBy[c.version] != p {
			p.jobs.show(i + 1 - p.jobs.seen)
			break
		}
	}
	for len(p.jobs.untold) > 0 {
		p.jobs.tell(1)
		w.pause()
	}
}

func bring[T client.Object](w *world, i *informer[T], n int, late bool) {
	i.show(n)
	w.say("a controller is shown %d changes; the handlers hear of all: %t", n, !late)
	if late {
		n = min(n, 1)
	}
	for ; n > 0; n-- {
		i.tell(1)
		w.pause()
	}
}

func (w *world) drawProcess(t *rapid.T) *process {
	if len(w.processes) == 0 {
		t.Skip("no controller")
	}
	return rapid.SampledFrom(w.processes).Draw(t, "controller")
}

func (w *world) drawPod(t *rapid.T) *corev1.Pod {
	names := w.server.pods.names()
	if len(names) == 0 {
		t.Skip("no pods")
	}
	return w.server.pods.objects[rapid.SampledFrom(names).Draw(t, "pod")]
}

// drawLivingPod is for what would make a pod count again that has counted: it would be adopted anew.
func (w *world) drawLivingPod(t *rapid.T) *corev1.Pod {
	p := w.drawPod(t)
	if ended(p) {
		t.Skip("the pod has ended")
	}
	return p
}

func (w *world) happenToPods(t *rapid.T) {
	p := w.drawPod(t)
	switch rapid.SampledFrom([]string{"run", "run", "exit", "exit", "exit", "restart", "evict", "preempt", "delete", "force", "node", "reap", "reap"}).Draw(t, "what") {
	case "run":
		w.run(p)
	case "exit":
		w.run(p)
		w.exit(w.server.pods.objects[p.Name], rapid.SampledFrom([]int32{0, 0, 1, 1, 42}).Draw(t, "code"))
	case "restart":
		w.restart(p)
	case "evict":
		w.evict(p)
	case "preempt":
		w.preempt(p)
	case "delete":
		w.deletePod(p, grace)
	case "force":
		w.deletePod(p, 0)
	case "node":
		w.loseNode(p)
	case "reap":
		w.reap(p)
	}
}

func (w *world) happenToController(t *rapid.T) {
	late := func(what string) int { return max(0, rapid.IntRange(-5, 5).Draw(t, what)) }
	if len(w.processes) > 1 {
		t.Skip("a hand-over is under way")
	}
	what := rapid.SampledFrom([]string{"start", "kill", "kill", "leave", "hand over"}).Draw(t, "what")
	switch {
	case len(w.processes) == 0 || what == "start":
		if len(w.processes) > 0 {
			t.Skip("a controller runs")
		}
		w.start(late("jobs late"), late("pods late"))
	case what == "kill":
		w.kill(w.drawProcess(t), func(*request) bool { return rapid.Bool().Draw(t, "comes to pass") })
	case what == "leave":
		w.leave(w.drawProcess(t))
	case what == "hand over":
		// The one before may be busy with its last requests for long; that there is but one that begins new ones is the
		// leader election's affair.
		w.leave(w.drawProcess(t))
		w.start(late("jobs late"), late("pods late"))
	}
}

func (w *world) happenToWatch(t *rapid.T) {
	p := w.drawProcess(t)
	switch rapid.SampledFrom([]string{"pods broken", "jobs broken", "repeat"}).Draw(t, "what") {
	case "pods broken":
		w.say("the watch of pods of controller %d breaks", p.number)
		w.showStatuses(p, p.pods.behind())
		p.pods.relist()
	case "jobs broken":
		w.say("the watch of Jobs of controller %d breaks", p.number)
		p.jobs.relist()
	case "repeat":
		w.say("controller %d is told everything again", p.number)
		p.jobs.repeat()
		p.pods.repeat()
	}
	w.pause()
}
