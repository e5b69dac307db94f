package node

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/config"
)

// configUsers maps each ConfigMap, Secret and claim to the pods that refer to it.
type configUsers struct {
	mu   sync.Mutex
	pods map[config.Use]map[types.UID]bool
}

func (u *configUsers) add(api *corev1.Pod) {
	list := config.UsesOf(api)
	if len(list) == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.pods == nil {
		u.pods = map[config.Use]map[types.UID]bool{}
	}
	for _, use := range list {
		if u.pods[use] == nil {
			u.pods[use] = map[types.UID]bool{}
		}
		u.pods[use][api.UID] = true
	}
}

func (u *configUsers) remove(api *corev1.Pod) {
	if api == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, use := range config.UsesOf(api) {
		delete(u.pods[use], api.UID)
		if len(u.pods[use]) == 0 {
			delete(u.pods, use)
		}
	}
}

func (u *configUsers) of(use config.Use) []types.UID {
	u.mu.Lock()
	defer u.mu.Unlock()
	uids := make([]types.UID, 0, len(u.pods[use]))
	for uid := range u.pods[use] {
		uids = append(uids, uid)
	}
	return uids
}
