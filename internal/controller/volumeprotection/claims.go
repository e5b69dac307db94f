package volumeprotection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/claimusers"
	"github.com/stint-dev/stint/internal/controller/loop"
	"github.com/stint-dev/stint/internal/persistentvolume"
)

// heldByNamespace indexes the claims that are being deleted and have the finalizer.
const heldByNamespace = "heldByNamespace"

// ClaimsClient is the part of the API that Claims uses.
type ClaimsClient interface {
	PersistentVolumeClaims() client.Resource[*corev1.PersistentVolumeClaim]
	Pods() client.Resource[*corev1.Pod]
}

// Claims lets claims go. It works on all claims of a namespace at once, so that one list of the pods is enough for many.
type Claims struct {
	claims client.Resource[*corev1.PersistentVolumeClaim]
	pods   client.Resource[*corev1.Pod]
	users  claimusers.Index
	loop   *loop.Loop
}

// NewClaims watches claims and pods of c. The informers may be started after it returns.
func NewClaims(c ClaimsClient) *Claims {
	p := &Claims{claims: c.PersistentVolumeClaims(), pods: c.Pods(), loop: loop.New("claim_protection", nil)}
	users, err := claimusers.Of(p.pods.Informer())
	p.users = users
	p.loop.FailStart(err)
	p.loop.FailStart(p.claims.Informer().AddIndexers(cache.Indexers{heldByNamespace: namespaceIfHeld}))
	p.loop.Watch(p.claims.Informer(), loop.Handler(func(_, is *corev1.PersistentVolumeClaim) {
		if is != nil && isHeldClaim(is) {
			p.queue(is.Namespace)
		}
	}))
	p.loop.Watch(p.pods.Informer(), loop.Handler(p.podChanged))
	return p
}

// Run lets claims go until ctx ends.
func (p *Claims) Run(ctx context.Context) error { return p.loop.Run(ctx, 1, p.sync) }

func (p *Claims) queue(namespace string) { p.loop.Queue.Add(types.NamespacedName{Name: namespace}) }

func isHeldClaim(c *corev1.PersistentVolumeClaim) bool {
	return isHeld(c, persistentvolume.ClaimProtection)
}

func namespaceIfHeld(obj any) ([]string, error) {
	if c, ok := obj.(*corev1.PersistentVolumeClaim); ok && isHeldClaim(c) {
		return []string{c.Namespace}, nil
	}
	return nil, nil
}

// podChanged looks at the claims of a pod that does not protect them any more. Most pods have no volumes, or none that is a
// claim.
func (p *Claims) podChanged(was, is *corev1.Pod) {
	pod := cmp.Or(is, was)
	if len(pod.Spec.Volumes) == 0 || is != nil && persistentvolume.Protects(is) {
		return
	}
	for _, name := range persistentvolume.ClaimsOf(pod) {
		key := types.NamespacedName{Namespace: pod.Namespace, Name: name}
		if c := loop.Cached[*corev1.PersistentVolumeClaim](p.claims.Informer(), key); c != nil && isHeldClaim(c) {
			p.queue(pod.Namespace)
			return
		}
	}
}

// sync lets the claims of a namespace go that no pod uses: first by the cached pods, then by a live list.
func (p *Claims) sync(ctx context.Context, key types.NamespacedName) error {
	free, err := p.unused(ctx, key.Name)
	if err == nil {
		err = p.letGo(ctx, free)
	}
	if err != nil && ctx.Err() == nil {
		klog.FromContext(ctx).Error(err, "Claims that are being deleted are retried", "namespace", key.Name)
	}
	return err
}

func (p *Claims) unused(ctx context.Context, namespace string) (free []*corev1.PersistentVolumeClaim, err error) {
	held, err := p.claims.Informer().GetIndexer().ByIndex(heldByNamespace, namespace)
	if err != nil {
		return nil, err
	}
	for _, obj := range held {
		if c := obj.(*corev1.PersistentVolumeClaim); !p.users.Any(c, persistentvolume.Protects) {
			free = append(free, c)
		}
	}
	if len(free) == 0 {
		return nil, nil
	}
	using := map[string][]*corev1.Pod{}
	if _, err = p.pods.List(ctx, namespace, labels.Everything(), func(pod *corev1.Pod) {
		if persistentvolume.Protects(pod) {
			for _, name := range persistentvolume.ClaimsOf(pod) {
				using[name] = append(using[name], pod)
			}
		}
	}); err != nil {
		return nil, fmt.Errorf("listing the pods: %w", err)
	}
	return slices.DeleteFunc(free, func(c *corev1.PersistentVolumeClaim) bool {
		return slices.ContainsFunc(using[c.Name], func(pod *corev1.Pod) bool { return persistentvolume.Names(pod, c) })
	}), nil
}

// letGo removes the finalizers of claims, several at a time.
func (p *Claims) letGo(ctx context.Context, claims []*corev1.PersistentVolumeClaim) error {
	failures := make([]error, len(claims))
	var running sync.WaitGroup
	slots := make(chan struct{}, workers)
	for i, c := range claims {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			failures[i] = p.letOneGo(ctx, c)
		})
	}
	running.Wait()
	return errors.Join(failures...)
}

func (p *Claims) letOneGo(ctx context.Context, c *corev1.PersistentVolumeClaim) error {
	_, err := p.claims.Modify(ctx, c, func(c *corev1.PersistentVolumeClaim) { remove(c, persistentvolume.ClaimProtection) })
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("removing the finalizer of claim %s: %w", loop.Key(c), err)
	}
	return nil
}
