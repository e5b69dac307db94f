package model_test

import (
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
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

// job returns the Job that users act on.
func (w *world) drawnJob(t *rapid.T) *batchv1.Job {
	j := w.server.jobs.objects[jobName]
	if j == nil {
		t.Skip("no Job")
	}
	return j
}

func (w *world) userActs(t *rapid.T) {
	switch rapid.SampledFrom([]string{"suspend", "suspend", "parallelism", "parallelism", "scale", "scale", "limit", "deadline",
		"delete", "recreate", "orphan", "labels", "disown", "other"}).Draw(t, "what") {
	case "suspend":
		on := rapid.Bool().Draw(t, "on")
		w.edit(t, "suspend", on, func(j *batchv1.Job) { j.Spec.Suspend = &on })
	case "parallelism":
		if w.ledger.scaled(w.drawnJob(t)) {
			// The API refuses the status of a Job that loses indexes and is not elastic any more.
			t.Skip("scaled")
		}
		n := rapid.Int32Range(0, 5).Draw(t, "n")
		w.edit(t, "parallelism", n, func(j *batchv1.Job) { j.Spec.Parallelism = &n })
	case "scale":
		n := rapid.Int32Range(0, 7).Draw(t, "n")
		w.edit(t, "completions and parallelism", n, func(j *batchv1.Job) { j.Spec.Completions, j.Spec.Parallelism = &n, &n })
	case "limit":
		n := rapid.Int32Range(0, 5).Draw(t, "n")
		w.edit(t, "backoffLimit", n, func(j *batchv1.Job) { j.Spec.BackoffLimit = &n })
	case "deadline":
		n := rapid.Int64Range(1, 3000).Draw(t, "n")
		w.edit(t, "activeDeadlineSeconds", n, func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = &n })
	case "delete":
		w.deleteTheJob(t)
	case "recreate":
		w.recreate(t)
	case "orphan":
		w.createOrphan(t)
	case "labels":
		w.relabel(t)
	case "disown":
		p := w.drawLivingPod(t)
		w.say("somebody takes the owner off pod %s", p.Name)
		w.server.setPod(p, func(p *corev1.Pod) { p.OwnerReferences = nil })
	case "other":
		w.steal(t)
	}
}

func (w *world) edit(t *rapid.T, what string, to any, edit func(*batchv1.Job)) {
	j := w.drawnJob(t)
	if err := w.server.updateJob(j.Name, edit); err != nil {
		t.Skip("not allowed")
	}
	w.say("user sets %s to %v", what, to)
}

func (w *world) deleteTheJob(t *rapid.T) {
	j := w.drawnJob(t)
	if j.DeletionTimestamp != nil || !one(t, 3, "really") {
		t.Skip("not really")
	}
	how := rapid.SampledFrom([]metav1.DeletionPropagation{metav1.DeletePropagationForeground,
		metav1.DeletePropagationBackground, metav1.DeletePropagationOrphan}).Draw(t, "how")
	w.say("user deletes the Job: %s", how)
	w.server.deleteJob(j.Name, how)
}

func (w *world) recreate(t *rapid.T) {
	if w.server.jobs.objects[jobName] != nil {
		t.Skip("the Job is there")
	}
	w.createJob(drawJob(t))
}

func (w *world) createJob(j *batchv1.Job) {
	made, err := w.server.createJob(j)
	if err != nil {
		w.fail("the Job is not valid: %v", err)
	}
	w.say("user creates a Job: %s", describeSpec(made))
}

func (w *world) createOrphan(t *rapid.T) {
	if j := w.drawnJob(t); !ptr.Deref(j.Spec.ManualSelector, false) {
		t.Skip("no orphan would match")
	}
	made, _ := w.server.createPod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "orphan-", Labels: map[string]string{"app": "j"}}})
	w.say("user creates pod %s, which the Job's selector matches", made.Name)
}

// relabel makes a pod match the selector no more, or again.
func (w *world) relabel(t *rapid.T) {
	p := w.drawLivingPod(t)
	w.say("somebody changes the labels of pod %s", p.Name)
	w.server.setPod(p, func(p *corev1.Pod) {
		for _, key := range []string{"app", batchv1.ControllerUidLabel} {
			if value, has := p.Labels[key]; has {
				delete(p.Labels, key)
				p.Labels["was-"+key] = value
			} else if value, had := p.Labels["was-"+key]; had {
				p.Labels[key] = value
			}
		}
	})
}

// steal gives an orphan to somebody else.
func (w *world) steal(t *rapid.T) {
	p := w.drawPod(t)
	if len(p.OwnerReferences) > 0 {
		t.Skip("not an orphan")
	}
	w.say("another controller adopts pod %s", p.Name)
	w.server.setPod(p, func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "other", UID: "other", Controller: ptr.To(true)}}
	})
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

// settle ends the faults, lets every pod succeed and expects everything to end.
func (w *world) settle() {
	w.say("the faults are over")
	for _, p := range slices.Clone(w.processes) {
		w.rest()
		if len(w.processes) > 1 {
			w.leave(p)
			w.work()
		}
	}
	w.work()
	if len(w.processes) == 0 || w.processes[0].leaving {
		w.start(0, 0)
	}
	w.letTheJobEnd()
	for n := 0; ; n++ {
		w.rest()
		w.collectGarbage()
		w.rest()
		if w.over() {
			break
		}
		if n > 30 {
			w.fail("the Job does not end")
		}
		w.playOut()
		w.rest()
		w.pass(waits[min(n, len(waits)-1)])
	}
	w.beQuiet()
	w.ledger.checkEnd()
}

// letTheJobEnd takes away what users hold it up with.
func (w *world) letTheJobEnd() {
	j := w.server.jobs.objects[jobName]
	if j == nil || finished(j) {
		return
	}
	_ = w.server.updateJob(jobName, func(j *batchv1.Job) {
		j.Spec.Suspend = ptr.To(false)
		if *j.Spec.Parallelism == 0 && !w.ledger.scaled(j) {
			j.Spec.Parallelism = ptr.To[int32](3)
		}
	})
}

// waits are what settle lets go by between its steps: the last is longer than any delay.
var waits = []time.Duration{time.Second, time.Second, 30 * time.Second, 11 * time.Minute}

func (w *world) playOut() {
	for _, name := range w.server.pods.names() {
		if p := w.server.pods.objects[name]; p != nil {
			w.run(p)
			w.exit(w.server.pods.objects[name], 0)
			if p := w.server.pods.objects[name]; p != nil {
				w.reap(p)
			}
		}
	}
}

// over tells that there is nothing left for a Job controller to do.
func (w *world) over() bool {
	for _, j := range w.server.jobs.objects {
		if managed(j) && !finished(j) {
			return false
		}
		if j.DeletionTimestamp != nil {
			return false
		}
	}
	for _, p := range w.server.pods.objects {
		if held(p) && !w.ledger.foreign(p) {
			return false
		}
	}
	return true
}

// beQuiet sees that nobody asks for anything any more.
func (w *world) beQuiet() {
	w.pass(11 * time.Minute)
	if waiting := w.requests.list(); len(waiting) > 0 {
		w.fail("all is over, and the controller wants to %s %s", waiting[0].verb, waiting[0].object)
	}
}
