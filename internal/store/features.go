package store

import (
	"sync"

	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/feature"
)

// knownFeatures answers what the etcd built into this process can do, and its client in memory. The library would ask
// each endpoint for its version, of which this client has none: consistent reads from the cache would stay off.
type knownFeatures struct{ feature.FeatureSupportChecker }

func (knownFeatures) Supports(f storage.Feature) bool { return f == storage.RequestWatchProgress }

// featureChecker puts our answer in the place that the library looks at, before its first look.
var featureChecker = sync.OnceFunc(func() {
	feature.DefaultFeatureSupportChecker = knownFeatures{feature.DefaultFeatureSupportChecker}
})
