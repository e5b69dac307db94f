package node

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/podspec"
	"github.com/stint-dev/stint/internal/podstatus"
)

// pods are the pods that the node manages.
type pods struct {
	mu    sync.Mutex
	byUID map[types.UID]*pod
}

func (ps *pods) get(uid types.UID) *pod {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.byUID[uid]
}

// getOrAdd returns the pod's entry, made if there was none.
func (ps *pods) getOrAdd(uid types.UID) *pod {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p, ok := ps.byUID[uid]
	if !ok {
		p = newPod(uid)
		ps.byUID[uid] = p
	}
	return p
}

func (ps *pods) uids() []types.UID {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return slices.Collect(maps.Keys(ps.byUID))
}

func (ps *pods) drop(uid types.UID) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	delete(ps.byUID, uid)
}

// images returns the names of the images of all pods that have not terminated, even if none of their containers runs
// now.
func (ps *pods) images() []string {
	asked := map[string]bool{}
	for _, uid := range ps.uids() {
		p := ps.get(uid)
		if p == nil {
			continue
		}
		api, gone := p.current()
		if api == nil || gone || podstatus.IsTerminal(api.Status.Phase) || runtime.HandlerOf(api) != runtime.ClassOCI {
			continue
		}
		for c := range podspec.Containers(&api.Spec) {
			asked[c.Image] = true
		}
	}
	var names []string
	for text := range asked {
		if ref, err := registry.Parse(text); err == nil {
			names = append(names, ref.String())
		}
	}
	return names
}
