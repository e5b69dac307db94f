package model_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/test/simulated"
)

// actions returns all that may happen at any moment of a history.
func (w *world) actions() map[string]func(*rapid.T) {
	return w.Actions(nil,
		simulated.Action{Times: 3, Name: "bring news", Do: w.bringNews},
		simulated.Action{Times: 2, Name: "time", Do: func(t *rapid.T) {
			w.Pass(time.Duration(rapid.IntRange(5, 700).Draw(t, "seconds")) * time.Second)
		}},
		simulated.Action{Times: 6, Name: "pods", Do: w.happenToPods},
		simulated.Action{Times: 2, Name: "user", Do: w.userActs},
		simulated.Action{Times: 1, Name: "another Job", Do: w.happenToOthers},
		simulated.Action{Times: 1, Name: "controller", Do: w.happenToController},
		simulated.Action{Times: 1, Name: "watch", Do: w.happenToWatch},
		simulated.Action{Times: 1, Name: "collect garbage", Do: func(*rapid.T) { w.collectGarbage() }})
}

func (w *world) bringNews(t *rapid.T) {
	p := w.drawProcess(t)
	n, ofPods := rapid.IntRange(1, 6).Draw(t, "news"), rapid.Bool().Draw(t, "of pods")
	late := simulated.OneIn(t, 3, "handlers late")
	if ofPods {
		w.showStatuses(p, n)
		w.Deliver(p.pods, n, late)
	} else {
		w.Deliver(p.jobs, n, late)
	}
}

// showStatuses shows a process the statuses that other processes stored before the next n changes of pods. Without them,
// the process could not know that the Job is finished, and would go on with it.
func (w *world) showStatuses(p *process, n int) {
	if p.pods.Behind() == 0 {
		return
	}
	newest, before := 0, p.pods.Next(n)
	for version, by := range w.ledger.statusBy {
		if version < before && by != p {
			newest = max(newest, version)
		}
	}
	for p.jobs.CachedVersion() < newest {
		p.jobs.Deliver(1)
	}
	for p.jobs.Undelivered() > 0 {
		p.jobs.Notify(1)
		w.Pause()
	}
}

func (w *world) drawProcess(t *rapid.T) *process {
	if len(w.Processes) == 0 {
		t.Skip("no controller")
	}
	return w.of(rapid.SampledFrom(w.Processes).Draw(t, "controller"))
}

func (w *world) drawPod(t *rapid.T) *corev1.Pod {
	names := w.podNames()
	if len(names) == 0 {
		t.Skip("no pods")
	}
	return w.pod(rapid.SampledFrom(names).Draw(t, "pod"))
}

// drawLivingPod draws a pod that has not terminated. It is for changes after which the Job adopts the pod again: a pod
// that has been counted would count twice.
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
		w.exit(w.pod(p.Name), rapid.SampledFrom([]int32{0, 0, 1, 1, 42}).Draw(t, "code"))
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
		w.removeNode(p)
	case "reap":
		w.reap(p)
	}
}

func (w *world) happenToController(t *rapid.T) {
	late := func(what string) int { return max(0, rapid.IntRange(-5, 5).Draw(t, what)) }
	if len(w.Processes) > 1 {
		t.Skip("a hand-over is under way")
	}
	what := rapid.SampledFrom([]string{"start", "kill", "kill", "leave", "hand over"}).Draw(t, "what")
	switch {
	case len(w.Processes) == 0 || what == "start":
		if len(w.Processes) > 0 {
			t.Skip("a controller runs")
		}
		w.start(late("jobs late"), late("pods late"))
	case what == "kill":
		w.Kill(w.drawProcess(t).Process, func(*simulated.Request) bool { return rapid.Bool().Draw(t, "comes to pass") })
	case what == "leave":
		w.Stop(w.drawProcess(t).Process)
	case what == "hand over":
		// The last requests of the old leader may still be in progress. Leader election ensures that it sends no new ones.
		w.Stop(w.drawProcess(t).Process)
		w.start(late("jobs late"), late("pods late"))
	}
}

func (w *world) happenToWatch(t *rapid.T) {
	p := w.drawProcess(t)
	switch rapid.SampledFrom([]string{"pods broken", "jobs broken", "repeat"}).Draw(t, "what") {
	case "pods broken":
		w.Logf("the watch of pods of controller %d breaks", p.Number)
		w.showStatuses(p, p.pods.Behind())
		p.pods.Relist()
	case "jobs broken":
		w.Logf("the watch of Jobs of controller %d breaks", p.Number)
		p.jobs.Relist()
	case "repeat":
		w.Logf("controller %d is shown everything again", p.Number)
		p.jobs.Repeat()
		p.pods.Repeat()
	}
	w.Pause()
}
