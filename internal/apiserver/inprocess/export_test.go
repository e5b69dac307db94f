package inprocess

import (
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
)

// ListWatchOf returns the ListerWatcher of r's informer.
func ListWatchOf[T client.Object](r client.Resource[T]) cache.ListerWatcherWithContext {
	return &listWatch{kind: r.(resource[T]).kind}
}
