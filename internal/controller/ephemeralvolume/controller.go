// Package ephemeralvolume makes the claims of generic ephemeral volumes, which pods own, so that they go with their pods.
package ephemeralvolume

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/klog/v2"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/claimusers"
	"github.com/stint-dev/stint/internal/controller/loop"
	"github.com/stint-dev/stint/internal/podstatus"
)

// workers is enough for the store to write many claims in batches.
const workers = 16

// Client is the part of the API that the Controller uses.
type Client interface {
	Pods() client.Resource[*corev1.Pod]
	PersistentVolumeClaims() client.Resource[*corev1.PersistentVolumeClaim]
}

// Controller makes the claims of the pods of one API server.
type Controller struct {
	pods     client.Resource[*corev1.Pod]
	claims   client.Resource[*corev1.PersistentVolumeClaim]
	recorder record.EventRecorder
	loop     *loop.Loop

	mu sync.Mutex
	// refused are the last errors about pods, so that no event is repeated.
	refused map[types.UID]string
}

// New watches pods and claims of c. The informers may be started after it returns.
func New(c Client, recorder record.EventRecorder) *Controller {
	e := &Controller{pods: c.Pods(), claims: c.PersistentVolumeClaims(), recorder: recorder,
		loop: loop.New("ephemeral_volume", nil), refused: map[types.UID]string{}}
	users, err := claimusers.Of(e.pods.Informer())
	e.loop.FailStart(err)
	e.loop.Watch(e.pods.Informer(), loop.Handler(func(was, is *corev1.Pod) {
		switch {
		case is == nil:
			e.forget(was.UID)
		case was == nil && wantsClaims(is):
			e.loop.Queue.Add(loop.Key(is))
		}
	}))
	e.loop.Watch(e.claims.Informer(), loop.Handler(func(was, is *corev1.PersistentVolumeClaim) {
		if is != nil {
			return
		}
		for _, pod := range users.Named(loop.Key(was)) {
			e.loop.Queue.Add(loop.Key(pod))
		}
	}))
	return e
}

// Run makes claims until ctx ends.
func (e *Controller) Run(ctx context.Context) error { return e.loop.Run(ctx, workers, e.sync) }

// wantsClaims reports whether a pod has ephemeral volumes and may still use them.
func wantsClaims(p *corev1.Pod) bool {
	if p.DeletionTimestamp != nil || podstatus.IsTerminated(p) {
		return false
	}
	for i := range p.Spec.Volumes {
		if p.Spec.Volumes[i].Ephemeral != nil {
			return true
		}
	}
	return false
}

func (e *Controller) sync(ctx context.Context, key types.NamespacedName) error {
	p := loop.Cached[*corev1.Pod](e.pods.Informer(), key)
	if p == nil || !wantsClaims(p) {
		return nil
	}
	var failures []error
	for i := range p.Spec.Volumes {
		if v := &p.Spec.Volumes[i]; v.Ephemeral != nil {
			failures = append(failures, e.ensure(ctx, p, v))
		}
	}
	err := errors.Join(failures...)
	if err != nil && ctx.Err() == nil {
		e.tell(p, err)
		klog.FromContext(ctx).V(2).Info("The claims of a pod are retried", "pod", key, "err", err)
	}
	return err
}

// ensure makes the claim of an ephemeral volume, unless it exists. A claim of its name that is not the pod's is an error.
func (e *Controller) ensure(ctx context.Context, p *corev1.Pod, v *corev1.Volume) error {
	want := claimFor(p, v)
	claim := loop.Cached[*corev1.PersistentVolumeClaim](e.claims.Informer(), loop.Key(want))
	if claim == nil {
		var err error
		claim, err = e.claims.Create(ctx, want)
		if apierrors.IsAlreadyExists(err) {
			claim, err = e.claims.Get(ctx, want.Namespace, want.Name)
		}
		if err != nil {
			return fmt.Errorf("ephemeral volume %s: creating claim %s: %w", v.Name, want.Name, err)
		}
	}
	if err := ephemeral.VolumeIsForPod(p, claim); err != nil {
		return fmt.Errorf("ephemeral volume %s: %w; delete that claim, or name the volume otherwise", v.Name, err)
	}
	return nil
}

func claimFor(p *corev1.Pod, v *corev1.Volume) *corev1.PersistentVolumeClaim {
	template := v.Ephemeral.VolumeClaimTemplate.DeepCopy()
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: ephemeral.VolumeClaimName(p, v),
			Labels: template.Labels, Annotations: template.Annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(p, corev1.SchemeGroupVersion.WithKind("Pod"))},
		},
		Spec: template.Spec,
	}
}

// tell records an event about a pod, unless it was the last one.
func (e *Controller) tell(p *corev1.Pod, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.refused[p.UID] != err.Error() {
		e.refused[p.UID] = err.Error()
		e.recorder.Event(p, corev1.EventTypeWarning, "FailedBinding", err.Error())
	}
}

func (e *Controller) forget(pod types.UID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.refused, pod)
}
