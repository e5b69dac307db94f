package node

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/images"
)

// retryStarts requeues a pod that has waited for an image or a volume.
func (n *Node) retryStarts(uid types.UID) {
	if p := n.pods.get(uid); p != nil {
		p.markStale()
		n.workers.wake(uid)
	}
}

// endPulls ends the pulls for which only this pod has waited, if it is ending: none of its containers starts any more.
func (w *podWorkers) endPulls(p *pod, ending bool) {
	if ending && w.containers.Images != nil {
		w.containers.Images.Leave(p.uid)
	}
}

// recordPull records that a pull has begun or ended, for one of the pods that wait for it.
func (n *Node) recordPull(uid types.UID, e images.Event) {
	switch {
	case e.Begins:
		n.pulls.pullBegan()
	case e.Failure == nil:
		n.disk.images.added()
	}
	p := n.pods.get(uid)
	if p == nil {
		return
	}
	if api, _ := p.current(); api != nil {
		n.workers.events.recordPull(api, e)
	}
}
