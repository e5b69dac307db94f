package store

import (
	"sync"

	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/feature"
)

// knownFeatures reports the features of the embedded etcd. The library would ask every endpoint for its version, but the
// in-memory client has no endpoints, so that consistent reads from the cache would stay off.
type knownFeatures struct{ feature.FeatureSupportChecker }

func (knownFeatures) Supports(f storage.Feature) bool { return f == storage.RequestWatchProgress }

// featureChecker replaces the library's checker by knownFeatures. It must run before the library first uses it.
var featureChecker = sync.OnceFunc(func() {
	feature.DefaultFeatureSupportChecker = knownFeatures{feature.DefaultFeatureSupportChecker}
})
