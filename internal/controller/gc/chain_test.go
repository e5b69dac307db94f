package gc_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

var (
	cronJobKind      = batchv1.SchemeGroupVersion.WithKind("CronJob")
	scheduledJobKind = stintv1.SchemeGroupVersion.WithKind("ScheduledJob")
)

// chain is a tree of owners: the root owns two Jobs, each of them two pods, and job-a the pod "held", which has a finalizer
// of another controller.
type chain struct {
	*world
	root client.Object
}

func (w *world) chain(kind schema.GroupVersionKind) chain {
	w.Helper()
	root := w.scheduled(kind)
	for _, name := range []string{"job-a", "job-b"} {
		job, err := w.direct.Jobs().Create(context.Background(), wrappers.MakeJob(name).Namespace("default").
			OwnerReferences(*metav1.NewControllerRef(root, kind)).Command("true").Obj())
		if err != nil {
			w.Fatal(err)
		}
		w.pod(name+"-0", job)
		w.pod(name+"-1", job)
	}
	w.pod("held", w.job("job-a"), "example.com/hold")
	return chain{w, root}
}

func (w *world) scheduled(kind schema.GroupVersionKind) client.Object {
	w.Helper()
	var root client.Object
	var err error
	if kind == cronJobKind {
		root, err = w.direct.CronJobs().Create(context.Background(),
			wrappers.MakeCronJob("root", "0 0 1 1 *").Namespace("default").Command("true").Obj())
	} else {
		root, err = w.direct.ScheduledJobs().Create(context.Background(),
			wrappers.MakeScheduledJob("root").Namespace("default").Command("true").Obj())
	}
	if err != nil {
		w.Fatal(err)
	}
	return root
}

func (w *world) job(name string) *batchv1.Job {
	w.Helper()
	job, err := w.direct.Jobs().Get(context.Background(), "default", name)
	if err != nil {
		w.Fatal(err)
	}
	return job
}

func (w *world) pod(name string, job *batchv1.Job, finalizers ...string) {
	w.Helper()
	pod := wrappers.MakePodOf(job, name).Finalizers(finalizers...).Obj()
	if _, err := w.direct.Pods().Create(context.Background(), pod); err != nil {
		w.Fatal(err)
	}
}

// release removes the other controller's finalizer.
func (w *world) release() {
	w.Helper()
	pod, err := w.direct.Pods().Get(context.Background(), "default", "held")
	if err == nil {
		_, err = w.direct.Pods().Modify(context.Background(), pod, func(p *corev1.Pod) { p.Finalizers = nil })
	}
	if err != nil {
		w.Fatal(err)
	}
}

func (c chain) delete(how metav1.DeletionPropagation) {
	c.Helper()
	if err := c.resource().Delete(context.Background(), c.root, client.DeleteOptions{Propagation: how}); err != nil {
		c.Fatal(err)
	}
}

// resource returns the root's resource on the server that runs now.
func (c chain) resource() client.Resource[client.Object] {
	c.Helper()
	for _, k := range c.direct.Kinds() {
		if _, isCronJob := c.root.(*batchv1.CronJob); isCronJob && k.GroupVersionKind == cronJobKind || !isCronJob && k.GroupVersionKind == scheduledJobKind {
			return k
		}
	}
	c.Fatal("the kind of the root is not served")
	return nil
}

// left returns the names of the objects that exist; objects that are being deleted have a minus.
func (c chain) left() []string {
	c.Helper()
	var all []string
	note := func(obj client.Object, err error) {
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			c.Fatal(err)
		case obj.GetDeletionTimestamp() != nil:
			all = append(all, "-"+obj.GetName())
		default:
			all = append(all, obj.GetName())
		}
	}
	note(c.resource().Get(context.Background(), "default", "root"))
	for _, name := range []string{"job-a", "job-b"} {
		job, err := c.direct.Jobs().Get(context.Background(), "default", name)
		note(job, err)
	}
	for _, name := range []string{"held", "job-a-0", "job-a-1", "job-b-0", "job-b-1"} {
		pod, err := c.direct.Pods().Get(context.Background(), "default", name)
		note(pod, err)
	}
	return all
}

func (c chain) comesTo(want ...string) {
	c.Helper()
	await.Until(c, "what is left is as it should be", func() bool { return slices.Equal(c.left(), want) })
	c.collects()
	if diff := cmp.Diff(want, c.left()); diff != "" {
		c.Errorf("left (-want +got):\n%s", diff)
	}
}

// ownersOf returns how many owners a Job has.
func (c chain) ownersOf(job string) int { return len(c.job(job).OwnerReferences) }

func TestChains(t *testing.T) {
	for sentence, c := range map[string]struct {
		how metav1.DeletionPropagation
		// held is what is left while the other controller's finalizer is on a pod, after is what is left in the end.
		held, after []string
	}{
		"in the background, owners do not wait": {metav1.DeletePropagationBackground,
			[]string{"-held"}, nil},
		"in the foreground, owners wait for what blocks them": {metav1.DeletePropagationForeground,
			[]string{"-root", "-job-a", "-held"}, nil},
		"orphans stay, and keep what they own": {metav1.DeletePropagationOrphan,
			[]string{"job-a", "job-b", "held", "job-a-0", "job-a-1", "job-b-0", "job-b-1"},
			[]string{"job-a", "job-b", "held", "job-a-0", "job-a-1", "job-b-0", "job-b-1"}},
	} {
		for _, kind := range []schema.GroupVersionKind{cronJobKind, scheduledJobKind} {
			for _, restarts := range []bool{false, true} {
				if restarts && kind == cronJobKind {
					continue // The state that a restart loses does not depend on the kind.
				}
				name := kind.Kind + ": " + sentence
				if restarts {
					name += ", over restarts"
				}
				t.Run(name, func(t *testing.T) {
					tree := start(t).chain(kind)
					if restarts {
						tree.restart(false) // No collector runs when the root is deleted.
					}
					tree.delete(c.how)
					if restarts {
						tree.restart(true)
					}
					tree.comesTo(c.held...)
					if restarts {
						tree.restart(true)
					}
					tree.release()
					tree.comesTo(c.after...)
					if c.how == metav1.DeletePropagationOrphan && (tree.ownersOf("job-a") != 0 || tree.ownersOf("job-b") != 0) {
						t.Error("the Jobs still name their owner")
					}
				})
			}
		}
	}
}

func TestAJobOfTheMiddleGoesAlone(t *testing.T) {
	for _, kind := range []schema.GroupVersionKind{cronJobKind, scheduledJobKind} {
		t.Run(kind.Kind, func(t *testing.T) {
			tree := start(t).chain(kind)
			job := tree.job("job-b")
			if err := tree.direct.Jobs().Delete(t.Context(), job, client.DeleteOptions{Propagation: metav1.DeletePropagationForeground}); err != nil {
				t.Fatal(err)
			}
			tree.comesTo("root", "job-a", "held", "job-a-0", "job-a-1")
		})
	}
}

// Dependents do not wait for another finalizer of their owner.
func TestAFinalizerOfTheOwnerHoldsUpOnlyTheOwner(t *testing.T) {
	w := start(t)
	root := w.configMap("root")
	hold := []byte(`{"metadata":{"finalizers":["example.com/hold"]}}`)
	if _, err := w.CoreV1().ConfigMaps("default").Patch(t.Context(), "root", "application/merge-patch+json", hold, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	w.configMap("background-child", by(root))
	w.delete("root", metav1.DeletePropagationBackground)
	w.collects()
	if !w.exists("background-child") {
		t.Error("in the background, dependents stay as long as their owner")
	}
	w.delete("root", metav1.DeletePropagationForeground)
	await.Until(w, "the child is gone", func() bool { return !w.exists("background-child") })
	if !w.exists("root") {
		t.Error("the owner went in spite of its finalizer")
	}
}

// A user may delete an object again with another propagation policy while the first deletion is in progress.
func TestTheLastChoiceCounts(t *testing.T) {
	for sentence, c := range map[string]struct {
		first, then metav1.DeletionPropagation
		want        []string
	}{
		"the foreground takes too long": {metav1.DeletePropagationForeground, metav1.DeletePropagationBackground, []string{"-held"}},
		"what is left is to stay":       {metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan, []string{"-job-a", "-held"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			tree := start(t).chain(cronJobKind)
			tree.delete(c.first)
			tree.comesTo("-root", "-job-a", "-held")
			tree.delete(c.then)
			await.Until(tree, "the root is gone", func() bool {
				_, err := tree.direct.CronJobs().Get(tree.Context(), "default", "root")
				return apierrors.IsNotFound(err)
			})
			if c.then == metav1.DeletePropagationBackground {
				job := tree.job("job-a")
				if err := tree.direct.Jobs().Delete(t.Context(), job, client.DeleteOptions{Propagation: c.then}); err != nil {
					t.Fatal(err)
				}
			}
			tree.comesTo(c.want...)
			tree.release()
			tree.comesTo()
		})
	}
}

func TestSeveralOwnersOfDifferentKinds(t *testing.T) {
	w := start(t)
	cronJob, scheduledJob := w.scheduled(cronJobKind), w.scheduled(scheduledJobKind)
	refs := []metav1.OwnerReference{*metav1.NewControllerRef(cronJob, cronJobKind), *metav1.NewControllerRef(scheduledJob, scheduledJobKind)}
	refs[1].Controller = nil
	job, err := w.direct.Jobs().Create(t.Context(), wrappers.MakeJob("shared").Namespace("default").OwnerReferences(refs...).
		Command("true").Suspend(true).Obj())
	if err != nil {
		t.Fatal(err)
	}
	w.pod("pod", job)
	if err := w.direct.CronJobs().Delete(t.Context(), cronJob.(*batchv1.CronJob), client.DeleteOptions{Propagation: metav1.DeletePropagationForeground}); err != nil {
		t.Fatal(err)
	}
	await.Until(w, "the first owner is gone", func() bool {
		_, err := w.direct.CronJobs().Get(w.Context(), "default", "root")
		return apierrors.IsNotFound(err)
	})
	w.collects()
	if got := w.job("shared"); got.DeletionTimestamp != nil || len(got.OwnerReferences) != 1 || got.OwnerReferences[0].UID != scheduledJob.GetUID() {
		t.Fatalf("the Job that has another owner is %v", got.ObjectMeta)
	}
	if err := w.direct.ScheduledJobs().Delete(t.Context(), scheduledJob.(*stintv1.ScheduledJob), client.DeleteOptions{Propagation: metav1.DeletePropagationBackground}); err != nil {
		t.Fatal(err)
	}
	await.Until(w, "the Job and its pod are gone", func() bool {
		_, noJob := w.direct.Jobs().Get(w.Context(), "default", "shared")
		_, noPod := w.direct.Pods().Get(w.Context(), "default", "pod")
		return apierrors.IsNotFound(noJob) && apierrors.IsNotFound(noPod)
	})
}
