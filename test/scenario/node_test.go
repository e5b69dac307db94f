package scenario_test

import (
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
)

// pod is a pod as it was when the scenario asked for it.
type pod struct {
	*corev1.Pod
	scene *scene
}

type podList []pod

// run starts the pods: they are running and ready.
func (l podList) run() podList { l.scene().Helper(); return l.each(pod.run) }

// runUnready starts the pods; they are not ready.
func (l podList) runUnready() podList { l.scene().Helper(); return l.each(pod.runUnready) }

// bind assigns the pods to the node, which has not started them yet.
func (l podList) bind() podList { l.scene().Helper(); return l.each(pod.bind) }

// succeed ends the pods with exit code 0. A pod that was deleted is gone then.
func (l podList) succeed() { l.scene().Helper(); l.exitAt(time.Now(), 0) }

// succeedBefore is succeed, but the containers ended so long ago.
func (l podList) succeedBefore(ago time.Duration) {
	l.scene().Helper()
	l.exitAt(time.Now().Add(-ago), 0)
}

// fail ends the pods with an exit code. A pod that was deleted is gone then.
func (l podList) fail(code int32) { l.scene().Helper(); l.exitAt(time.Now(), code) }

// failBefore is fail, but the containers ended so long ago: the delay after it may be over already.
func (l podList) failBefore(ago time.Duration, code int32) {
	l.scene().Helper()
	l.exitAt(time.Now().Add(-ago), code)
}

// failLongAgo is fail, but so long ago that no delay is left.
func (l podList) failLongAgo(code int32) { l.scene().Helper(); l.failBefore(longAgo, code) }

// exitAt ends the pods with an exit code, at the given time.
func (l podList) exitAt(then time.Time, code int32) {
	l.scene().Helper()
	l.each(func(p pod) error { return p.exit(code, then) })
}

// restart reports that the containers of running pods have restarted n times so far.
func (l podList) restart(n int32) {
	l.scene().Helper()
	l.each(func(p pod) error { return p.restart(n) })
}

// delete deletes the pods, as a user does. A pod on a node goes when its containers have ended.
func (l podList) delete() { l.scene().Helper(); l.each(func(p pod) error { return p.delete(nil) }) }

// forceDelete removes the pods without waiting for the node.
func (l podList) forceDelete() {
	l.scene().Helper()
	l.each(func(p pod) error { return p.delete(ptr.To[int64](0)) })
}

// evict asks the API for the pods' eviction, as kubectl drain does.
func (l podList) evict() { l.scene().Helper(); l.each(pod.evict) }

// loseNode does with the pods what happens when their node is lost: they fail and are removed.
func (l podList) loseNode() { l.scene().Helper(); l.each(pod.loseNode) }

// relabel changes the pods' labels.
func (l podList) relabel(labels map[string]string) {
	l.scene().Helper()
	l.each(func(p pod) error {
		return p.update(func(o *corev1.Pod) {
			for k, v := range labels {
				metav1.SetMetaDataLabel(&o.ObjectMeta, k, v)
			}
		})
	})
}

// gone waits until the pods do not exist any more.
func (l podList) gone() {
	s := l.scene()
	s.Helper()
	s.eventually(func(h *history) string {
		for _, p := range l {
			if h.newest[p.UID] != nil {
				return "pod " + p.Name + " to go"
			}
		}
		return ""
	})
}

// become waits until is returns true for every one of the pods.
func (l podList) become(what string, is func(*corev1.Pod) bool) {
	s := l.scene()
	s.Helper()
	s.eventually(func(h *history) string {
		for _, p := range l {
			if now, _ := h.newest[p.UID].(*corev1.Pod); now == nil || !is(now) {
				return "pod " + p.Name + " to be " + what
			}
		}
		return ""
	})
}

func (l podList) scene() *scene { return l[0].scene }

// each does something to all pods at the same time.
func (l podList) each(do func(pod) error) podList {
	l.scene().Helper()
	errs := make([]error, len(l))
	var running sync.WaitGroup
	for i, p := range l {
		running.Go(func() { errs[i] = do(p) })
	}
	running.Wait()
	l.scene().must(errors.Join(errs...))
	return l
}

func (p pod) delete(grace *int64) error {
	err := p.scene.api.CoreV1().Pods(p.Namespace).Delete(p.scene.Context(), p.Name, metav1.DeleteOptions{
		GracePeriodSeconds: grace, Preconditions: &metav1.Preconditions{UID: &p.UID},
	})
	if err != nil {
		return ignoreGone(err)
	}
	p.scene.eventually(func(h *history) string {
		if now := h.newest[p.UID]; now != nil && now.GetDeletionTimestamp() == nil {
			return "the deletion of pod " + p.Name + " to be seen"
		}
		return ""
	})
	return nil
}

func (p pod) evict() error {
	return p.scene.api.CoreV1().Pods(p.Namespace).EvictV1(p.scene.Context(), &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace},
	})
}

func (p pod) loseNode() error {
	err := p.report(func(s *corev1.PodStatus) {
		s.Phase = corev1.PodFailed
		setCondition(s, corev1.DisruptionTarget, corev1.ConditionTrue, "DeletionByPodGC")
	})
	if err != nil {
		return err
	}
	return p.delete(ptr.To[int64](0))
}

// report writes the pod's status, and returns when the history shows it.
func (p pod) report(change func(*corev1.PodStatus)) error {
	return p.write(func(o *corev1.Pod) (*corev1.Pod, error) {
		change(&o.Status)
		return p.scene.api.CoreV1().Pods(p.Namespace).UpdateStatus(p.scene.Context(), o, metav1.UpdateOptions{})
	})
}

func (p pod) update(change func(*corev1.Pod)) error {
	return p.write(func(o *corev1.Pod) (*corev1.Pod, error) {
		change(o)
		return p.scene.api.CoreV1().Pods(p.Namespace).Update(p.scene.Context(), o, metav1.UpdateOptions{})
	})
}

func (p pod) write(write func(*corev1.Pod) (*corev1.Pod, error)) error {
	var written *corev1.Pod
	err := retry.RetryOnConflict(persistent, func() error {
		now, err := p.get()
		if err == nil {
			written, err = write(now)
		}
		return err
	})
	if err == nil {
		p.scene.sees(written)
	}
	return err
}

func (p pod) get() (*corev1.Pod, error) {
	return p.scene.api.CoreV1().Pods(p.Namespace).Get(p.scene.Context(), p.Name, metav1.GetOptions{})
}

func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
