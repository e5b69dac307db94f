package clienttest

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
)

type promise struct {
	name string
	test func(*world)
}

var promises = slices.Concat(reads, changes, deletions,
	promisesOf(pods), promisesOf(cronJobs), promisesOf(scheduledJobs), promisesOf(resultSlices), promisesOf(podTemplates), shows)

var reads = []promise{
	{"Create applies defaults and returns what is stored", func(w *world) {
		made := must(w.Jobs().Create(w.Context(), w.job("a")))(w)
		if made.Spec.BackoffLimit == nil || made.Spec.Selector == nil || made.UID == "" || made.ResourceVersion == "" {
			w.Errorf("backoffLimit %v, selector %v, UID %q, version %q", made.Spec.BackoffLimit, made.Spec.Selector, made.UID, made.ResourceVersion)
		}
		read := must(w.Jobs().Get(w.Context(), w.namespace, "a"))(w)
		if read.ResourceVersion != made.ResourceVersion {
			w.Errorf("made version %s, stored version %s", made.ResourceVersion, read.ResourceVersion)
		}
	}},
	{"Create generates a name and leaves what it was given alone", func(w *world) {
		given := w.pod("")
		given.GenerateName = strings.Repeat("n", 60) + "-"
		a, b := w.made(given), w.made(given)
		if given.Name != "" || a.Name == b.Name || a.GenerateName != given.GenerateName {
			w.Errorf("given %q; made %q and %q from %q", given.Name, a.Name, b.Name, a.GenerateName)
		}
		if len(a.Name) != 63 || !strings.HasPrefix(a.Name, given.GenerateName[:58]) {
			w.Errorf("the generated name is %q", a.Name)
		}
	}},
	{"Create refuses bad objects, taken names and missing namespaces", func(w *world) {
		bad := w.job("bad")
		bad.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways
		if _, err := w.Jobs().Create(w.Context(), bad); !apierrors.IsInvalid(err) {
			w.Errorf("bad: %v, want Invalid", err)
		}
		w.made(w.pod("a"))
		if _, err := w.Pods().Create(w.Context(), w.pod("a")); !apierrors.IsAlreadyExists(err) {
			w.Errorf("the same name again: %v, want AlreadyExists", err)
		}
		lost := w.pod("lost")
		lost.Namespace = "nowhere"
		if _, err := w.Pods().Create(w.Context(), lost); !apierrors.IsNotFound(err) {
			w.Errorf("in a missing namespace: %v, want NotFound", err)
		}
	}},
	{"Get of what is not there is NotFound", func(w *world) {
		if _, err := w.Pods().Get(w.Context(), w.namespace, "none"); !apierrors.IsNotFound(err) {
			w.Error(err)
		}
	}},
}

var changes = []promise{
	{"UpdateStatus replaces the status and nothing else", func(w *world) {
		made := must(w.Jobs().Create(w.Context(), w.job("a")))(w)
		next := made.DeepCopy()
		next.Status.Active = 1
		next.Status.StartTime = ptr.To(metav1.Now().Rfc3339Copy())
		next.Spec.Suspend = ptr.To(true)
		written := must(w.Jobs().UpdateStatus(w.Context(), next))(w)
		if written.Status.Active != 1 || *written.Spec.Suspend {
			w.Errorf("active %d, suspend %v", written.Status.Active, *written.Spec.Suspend)
		}
		if _, err := w.Jobs().UpdateStatus(w.Context(), next); !apierrors.IsConflict(err) {
			w.Errorf("from an old version: %v, want Conflict", err)
		}
	}},
	{"UpdateStatus of what is gone is NotFound, of another object of that name a Conflict", func(w *world) {
		old := must(w.Jobs().Create(w.Context(), w.job("a")))(w)
		if err := w.Jobs().Delete(w.Context(), old, client.DeleteOptions{Propagation: metav1.DeletePropagationBackground}); err != nil {
			w.Fatal(err)
		}
		if _, err := w.Jobs().UpdateStatus(w.Context(), old); !apierrors.IsNotFound(err) {
			w.Errorf("gone: %v", err)
		}
		must(w.Jobs().Create(w.Context(), w.job("a")))(w)
		if _, err := w.Jobs().UpdateStatus(w.Context(), old); !apierrors.IsConflict(err) {
			w.Errorf("another one: %v", err)
		}
	}},
	{"Modify writes the main part, ModifyStatus the status", func(w *world) {
		made := w.made(w.pod("a"))
		change := func(p *corev1.Pod) {
			p.Labels = map[string]string{"x": "y"}
			p.Status.Phase = corev1.PodRunning
		}
		labelled := must(w.Pods().Modify(w.Context(), made, change))(w)
		if labelled.Labels["x"] != "y" || labelled.Status.Phase != corev1.PodPending {
			w.Errorf("labels %v, phase %s", labelled.Labels, labelled.Status.Phase)
		}
		running := must(w.Pods().ModifyStatus(w.Context(), labelled, func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }))(w)
		if running.Status.Phase != corev1.PodRunning {
			w.Errorf("phase %s", running.Status.Phase)
		}
	}},
	{"Modify without a difference writes nothing", func(w *world) {
		made := w.made(w.pod("a"))
		same := must(w.Pods().Modify(w.Context(), made, func(*corev1.Pod) {}))(w)
		same = must(w.Pods().ModifyStatus(w.Context(), same, func(*corev1.Pod) {}))(w)
		if same.ResourceVersion != made.ResourceVersion {
			w.Errorf("version %s became %s", made.ResourceVersion, same.ResourceVersion)
		}
	}},
	{"Modify of what is gone, or of another object of that name, is NotFound", func(w *world) {
		old := w.made(w.pod("a"))
		w.remove(old)
		label := func(p *corev1.Pod) { p.Labels = map[string]string{"x": "y"} }
		run := func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }
		for _, what := range []string{"gone", "another one"} {
			if _, err := w.Pods().Modify(w.Context(), old, label); !apierrors.IsNotFound(err) {
				w.Errorf("%s: %v", what, err)
			}
			if _, err := w.Pods().ModifyStatus(w.Context(), old, run); !apierrors.IsNotFound(err) {
				w.Errorf("status, %s: %v", what, err)
			}
			if what == "gone" {
				w.made(w.pod("a"))
			}
		}
		other := must(w.Pods().Get(w.Context(), w.namespace, "a"))(w)
		if len(other.Labels) != 0 || other.Status.Phase != corev1.PodPending {
			w.Errorf("the other one was changed: %v %s", other.Labels, other.Status.Phase)
		}
	}},
	{"Modify that takes the last finalizer of a deleted object ends it", func(w *world) {
		p := w.pod("a")
		p.Finalizers = []string{"example.com/f"}
		made := w.made(p)
		w.remove(made)
		if _, err := w.Pods().Modify(w.Context(), made, func(p *corev1.Pod) { p.Finalizers = nil }); err != nil {
			w.Fatal(err)
		}
		if _, err := w.Pods().Get(w.Context(), w.namespace, "a"); !apierrors.IsNotFound(err) {
			w.Errorf("get: %v, want NotFound", err)
		}
	}},
}

func (w *world) remove(p *corev1.Pod) {
	w.Helper()
	if err := w.Pods().Delete(w.Context(), p, client.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}); err != nil {
		w.Fatal(err)
	}
}
