package model_test

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/test/simulated"
	"github.com/stint-dev/stint/test/wrappers"
)

// drawnJob returns the Job that users change.
func (w *world) drawnJob(t *rapid.T) *batchv1.Job {
	j := w.job(jobName)
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
		w.Logf("a user takes the owner off pod %s", p.Name)
		w.pods.Change(p, func(p *corev1.Pod) { p.OwnerReferences = nil })
	case "other":
		w.adoptByOther(t)
	}
}

func (w *world) edit(t *rapid.T, what string, to any, edit func(*batchv1.Job)) {
	j := w.drawnJob(t)
	if err := w.updateJob(j.Name, edit); err != nil {
		t.Skip("not allowed")
	}
	w.Logf("user sets %s to %v", what, to)
}

func (w *world) deleteTheJob(t *rapid.T) {
	j := w.drawnJob(t)
	if j.DeletionTimestamp != nil || !simulated.OneIn(t, 3, "really") {
		t.Skip("not really")
	}
	how := rapid.SampledFrom([]metav1.DeletionPropagation{metav1.DeletePropagationForeground,
		metav1.DeletePropagationBackground, metav1.DeletePropagationOrphan}).Draw(t, "how")
	w.Logf("user deletes the Job: %s", how)
	w.deleteJob(j.Name, how)
}

// deleteJob deletes a Job; collectGarbage does the rest.
func (w *world) deleteJob(name string, how metav1.DeletionPropagation) {
	_ = w.jobs.Delete(namespace, name, "", client.DeleteOptions{Propagation: how})
}

func (w *world) recreate(t *rapid.T) {
	if w.job(jobName) != nil {
		t.Skip("the Job is there")
	}
	w.createJob(drawJob(t))
}

func (w *world) createJob(j *batchv1.Job) {
	j.Namespace = namespace
	made, err := w.jobs.Create(j)
	if err != nil {
		w.Fail("the Job is not valid: %v", err)
	}
	w.Logf("user creates a Job: %s", describeSpec(made))
}

func (w *world) createOrphan(t *rapid.T) {
	if j := w.drawnJob(t); !ptr.Deref(j.Spec.ManualSelector, false) {
		t.Skip("no orphan would match")
	}
	made := w.newOrphan()
	w.Logf("user creates pod %s, which the Job's selector matches", made.Name)
}

// newOrphan creates an orphan pod, which the selector of a Job with a manual selector matches.
func (w *world) newOrphan() *corev1.Pod {
	made, err := w.pods.Create(wrappers.MakePod("").GenerateName("orphan-").Namespace(namespace).Label("app", "j").Obj())
	if err != nil {
		w.Fail("the orphan is not valid: %v", err)
	}
	return made
}

// relabel changes the labels of a pod so that the selector no longer matches it, or matches it again.
func (w *world) relabel(t *rapid.T) {
	p := w.drawLivingPod(t)
	w.Logf("a user changes the labels of pod %s", p.Name)
	w.pods.Change(p, func(p *corev1.Pod) {
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

// adoptByOther gives an orphan pod to another controller.
func (w *world) adoptByOther(t *rapid.T) {
	p := w.drawPod(t)
	if len(p.OwnerReferences) > 0 {
		t.Skip("not an orphan")
	}
	w.Logf("another controller adopts pod %s", p.Name)
	w.pods.Change(p, func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "other", UID: "other", Controller: ptr.To(true)}}
	})
}
