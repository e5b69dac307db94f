package remote

import (
	"context"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
)

// servedPause is between two questions whether the API server knows a kind by now.
const servedPause = 2 * time.Second

// whenServed asks an informer's question again and again while the API server does not know the kind. Left to itself an
// informer asks less and less often, and logs each time. Only an answer shows that the kind is known: a server that is
// away or busy tells nothing of it.
func (r *resource[T]) whenServed(ctx context.Context, ask func() error) error {
	log := klog.FromContext(ctx)
	for {
		err := ask()
		if r.crd == "" || !apierrors.IsNotFound(err) {
			if err == nil && r.missing.CompareAndSwap(true, false) {
				log.Info("The API server knows " + r.plural + " now")
			}
			return err
		}
		if !r.missing.Swap(true) {
			log.Info("The API server does not know "+r.plural+": none run until it does", "remedy", "kubectl apply -f "+r.crd)
		}
		pause := time.NewTimer(servedPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return io.EOF // A reflector takes it for the ordinary end of a watch, and tells nobody.
		}
	}
}

func (r *resource[T]) run(ctx context.Context) { r.informer.RunWithContext(ctx) }

func (r *resource[T]) filled() bool { return r.missing.Load() || r.informer.HasSynced() }
