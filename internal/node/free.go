package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// storeEnd stores the status of a pod whose containers have all ended for good. It reports whether to sync the pod again at once.
func (w *podWorkers) storeEnd(ctx context.Context, p *pod, api *corev1.Pod, change func(*corev1.Pod)) (again bool) {
	w.end(p)
	if w.status.reportNow(ctx, p, api, change) {
		return true
	}
	w.disk.checkNow() // A store whose disk is full may have refused it.
	return false
}

// end ends what is done for a pod whose containers have all ended for good.
func (w *podWorkers) end(p *pod) {
	w.shares.End(p.uid)
	p.markEnded()
}

// freePatience is how long the check of the disks waits until the volumes of one pod are removed. The next check goes on with them.
const freePatience = 2 * time.Second

// freeEnded removes the volumes of pods whose containers have all ended for good, although that may not be stored yet: what is
// stored of a pod needs its logs at most, which stay.
func (w *podWorkers) freeEnded(ctx context.Context) {
	for _, uid := range w.pods.uids() {
		if p := w.pods.get(uid); p != nil && p.hasEnded() {
			w.freeVolumes(ctx, p)
		}
	}
}

func (w *podWorkers) freeVolumes(ctx context.Context, p *pod) {
	ctx, cancel := context.WithTimeout(ctx, freePatience)
	defer cancel()
	p.removal.Lock()
	defer p.removal.Unlock()
	if p.cleaned {
		return
	}
	err := w.runtime.RemovePod(ctx, p.uid, w.dirs.volumes(p.uid))
	if err == nil {
		err = w.dirs.removeVolumes(ctx, p.uid)
	}
	if err != nil {
		warn(ctx, "remove the volumes of a pod that has ended", err, "pod", p.uid)
	}
}

func (p *pod) markEnded() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

func (p *pod) hasEnded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}
