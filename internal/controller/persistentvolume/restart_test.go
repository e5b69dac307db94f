package persistentvolume_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/apiserver/inprocess"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/persistentvolume"
	"github.com/stint-dev/stint/internal/controller/volumeprotection"
	core "github.com/stint-dev/stint/internal/persistentvolume"
)

var errDead = errors.New("the process is dead")

// life is how many writes the controllers of a process make before they die.
type life struct {
	mu   sync.Mutex
	left int
	over chan struct{}
}

// write makes a write, unless the process is dead. It dies after its last write.
func (l *life) write(do func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left == 0 {
		return errDead
	}
	if l.left--; l.left == 0 {
		defer close(l.over)
	}
	return do()
}

// mortal are the resources of such a process.
type mortal struct {
	*inprocess.Client
	life *life
}

func (m mortal) PersistentVolumes() client.Resource[*corev1.PersistentVolume] {
	return mortalResource[*corev1.PersistentVolume]{m.Client.PersistentVolumes(), m.life}
}

func (m mortal) PersistentVolumeClaims() client.Resource[*corev1.PersistentVolumeClaim] {
	return mortalResource[*corev1.PersistentVolumeClaim]{m.Client.PersistentVolumeClaims(), m.life}
}

type mortalResource[T client.Object] struct {
	client.Resource[T]
	life *life
}

func (r mortalResource[T]) Create(ctx context.Context, o T) (made T, err error) {
	err = r.life.write(func() (err error) { made, err = r.Resource.Create(ctx, o); return err })
	return made, err
}

func (r mortalResource[T]) Modify(ctx context.Context, o T, change func(T)) (made T, err error) {
	err = r.life.write(func() (err error) { made, err = r.Resource.Modify(ctx, o, change); return err })
	return made, err
}

func (r mortalResource[T]) ModifyStatus(ctx context.Context, o T, change func(T)) (made T, err error) {
	err = r.life.write(func() (err error) { made, err = r.Resource.ModifyStatus(ctx, o, change); return err })
	return made, err
}

func (r mortalResource[T]) Delete(ctx context.Context, o T, opts client.DeleteOptions) error {
	return r.life.write(func() error { return r.Resource.Delete(ctx, o, opts) })
}

// afterEachWrite plays a scenario again and again: each time the controllers die one write later, and others go on.
func afterEachWrite(t *testing.T, scenario func(*world)) {
	for writes, dies := 1, true; dies; writes++ {
		t.Run(fmt.Sprint("write ", writes), func(t *testing.T) {
			w := open(t)
			w.class("now", core.Provisioner, immediate)
			l := &life{left: writes, over: make(chan struct{})}
			c := mortal{w.fresh(), l}
			stop := w.run(c.Client, persistentvolume.New(c, w.events, persistentvolume.Options{Provisioner: w.directories}),
				volumeprotection.NewClaims(c), volumeprotection.NewVolumes(c))
			played := make(chan struct{})
			var next sync.WaitGroup
			next.Go(func() {
				select {
				case <-l.over:
					stop()
					w.control(persistentvolume.Options{Provisioner: w.directories})
				case <-played:
				}
			})
			scenario(w)
			close(played)
			next.Wait()
			select {
			case <-l.over:
			default:
				dies = false
			}
		})
	}
}

func TestARestartAfterAnyWriteOfALocalVolume(t *testing.T) {
	afterEachWrite(t, func(w *world) {
		c, v := w.provisioned("now")
		w.deleteClaim(c)
		w.phases("data", "gone", v.Name, "gone")
		if left := w.names(w); len(left) > 0 {
			w.Errorf("directories %v are left", left)
		}
	})
}

func TestARestartAfterAnyWriteOfAVolumeThatIsBoundTwice(t *testing.T) {
	afterEachWrite(t, func(w *world) {
		w.volume("a")
		w.volume("b")
		w.phases("data", "gone", "a", "Available")
		w.phases("data", "gone", "b", "Available")
		c := w.claim("data", "")
		_, v := w.bound("data")
		w.deleteClaim(c)
		w.phases("data", "gone", v.Name, "Released")
		w.put(w.PersistentVolumes().Modify(w.Context(), v, func(v *corev1.PersistentVolume) { v.Spec.ClaimRef = nil }))
		w.claim("next", "", naming(v.Name))
		w.bound("next")
		w.phases("next", "Bound", map[string]string{"a": "b", "b": "a"}[v.Name], "Available")
	})
}
