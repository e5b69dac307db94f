package server

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node"
)

// takenPods breaks the circle between the API server, which asks what the node has taken, and the node, which is made
// after it.
type takenPods struct{ node atomic.Pointer[node.Node] }

func (t *takenPods) has(uid types.UID) bool {
	n := t.node.Load()
	return n != nil && n.Taken(uid)
}
