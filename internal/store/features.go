package store

import (
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/feature"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// knownFeatures reports the features of the embedded etcd. The library would ask every endpoint for its version, but the
// in-memory client has no endpoints, so that consistent reads from the cache would stay off.
type knownFeatures struct{ feature.FeatureSupportChecker }

func (knownFeatures) Supports(f storage.Feature) bool { return f == storage.RequestWatchProgress }

// unwanted are features of the library that cost memory. Snapshots of old lists take as much as the history of the watch
// cache; lists of old versions are read from etcd instead. The other two need these snapshots or another list of all keys.
var unwanted = map[string]bool{
	string(features.ListFromCacheSnapshot):     false,
	string(features.DetectCacheInconsistency):  false,
	string(features.SizeBasedListCostEstimate): false,
}

// setFeatures must run before the library makes its first storage.
var setFeatures = sync.OnceFunc(func() {
	feature.DefaultFeatureSupportChecker = knownFeatures{feature.DefaultFeatureSupportChecker}
	utilruntime.Must(utilfeature.DefaultMutableFeatureGate.SetFromMap(unwanted))
})
