package remote

import (
	"context"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
)

// servedPause is the delay between two requests while the API server does not know a kind.
const servedPause = 2 * time.Second

// whenServed repeats the list or watch request of an informer while the API server does not know the kind. The informer's
// own retries would have growing delays and log every failure. Only a successful response shows that the kind is known:
// the errors of a server that is down or busy do not.
func (r *resource[T]) whenServed(ctx context.Context, ask func() error) error {
	log := klog.FromContext(ctx)
	for {
		err := ask()
		if r.crd == "" || !apierrors.IsNotFound(err) {
			if err == nil && r.missing.CompareAndSwap(true, false) {
				log.Info("The API server serves " + r.plural + " now")
			}
			return err
		}
		if !r.missing.Swap(true) {
			log.Info("The API server does not serve "+r.plural+": they are not managed until it does", "remedy", "kubectl apply -f "+r.crd)
		}
		pause := time.NewTimer(servedPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return io.EOF // A reflector takes this for the normal end of a watch and does not log it.
		}
	}
}

func (r *resource[T]) run(ctx context.Context) { r.informer.RunWithContext(ctx) }

func (r *resource[T]) filled() bool { return r.missing.Load() || r.informer.HasSynced() }
