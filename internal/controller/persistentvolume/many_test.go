package persistentvolume_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/stint-dev/stint/internal/controller/persistentvolume"
	core "github.com/stint-dev/stint/internal/persistentvolume"
	"github.com/stint-dev/stint/test/await"
)

// TestManyClaims counts requests, as time says nothing: what each claim costs does not grow with the others.
func TestManyClaims(t *testing.T) {
	const claims = 200
	w := open(t)
	w.class("now", core.Provisioner, immediate)
	for i := range claims {
		w.volume(fmt.Sprintf("v-%03d", i))
		w.claim(fmt.Sprintf("static-%03d", i), "")
		w.claim(fmt.Sprintf("local-%03d", i), "now")
	}
	l := &life{left: 1 << 30, over: make(chan struct{})}
	c := mortal{w.fresh(), l}
	w.run(c.Client, persistentvolume.New(c, w.events, persistentvolume.Options{Provisioner: w.directories}))
	var bound atomic.Int32
	await.Until(t, "all claims are bound", func() bool {
		bound.Store(0)
		_, err := w.PersistentVolumeClaims().List(t.Context(), namespace, labels.Everything(), func(c *corev1.PersistentVolumeClaim) {
			if c.Status.Phase == corev1.ClaimBound {
				bound.Add(1)
			}
		})
		return err == nil && bound.Load() == 2*claims
	}, func() string { return fmt.Sprint(bound.Load(), " are bound") })
	// A binding takes four writes, a static volume one more for its first phase. Some are tried again, as caches are late.
	l.mu.Lock()
	defer l.mu.Unlock()
	if writes := 1<<30 - l.left; writes > 3*claims*(4+5) {
		t.Errorf("%d writes for %d claims", writes, 2*claims)
	}
}
