// Package claimusers finds the pods that name a claim. It is an index of the informer of pods that several controllers share;
// pods without claims are not in it.
package claimusers

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/persistentvolume"
)

const byClaim = "podsByClaim"

// Index finds pods by their claims.
type Index struct{ pods cache.Indexer }

// Of adds the index to the informer of pods, unless another controller has.
func Of(pods cache.SharedIndexInformer) (Index, error) {
	index := Index{pods.GetIndexer()}
	if _, there := index.pods.GetIndexers()[byClaim]; there {
		return index, nil
	}
	return index, pods.AddIndexers(cache.Indexers{byClaim: keysOf})
}

func keysOf(obj any) ([]string, error) {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return nil, nil
	}
	keys := persistentvolume.ClaimsOf(p)
	for i, name := range keys {
		keys[i] = types.NamespacedName{Namespace: p.Namespace, Name: name}.String()
	}
	return keys, nil
}

// Any reports whether ok is true for one of the cached pods that name the claim.
func (i Index) Any(claim *corev1.PersistentVolumeClaim, ok func(*corev1.Pod) bool) bool {
	for _, p := range i.Named(types.NamespacedName{Namespace: claim.Namespace, Name: claim.Name}) {
		if persistentvolume.Names(p, claim) && ok(p) {
			return true
		}
	}
	return false
}

// Named returns the cached pods that name a claim of this name, which may not exist or not be for them.
func (i Index) Named(claim types.NamespacedName) (pods []*corev1.Pod) {
	found, _ := i.pods.ByIndex(byClaim, claim.String()) // It fails only without the index.
	for _, obj := range found {
		pods = append(pods, obj.(*corev1.Pod))
	}
	return pods
}
