package inprocess

import (
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
)

// ListWatchOf is what the informer of r lists and watches with.
func ListWatchOf[T client.Object](r client.Resource[T]) cache.ListerWatcherWithContext {
	return listWatch{r.(resource[T]).kind}
}
