package run

import (
	"cmp"
	"slices"

	"github.com/stint-dev/stint/internal/cli/manifest"
)

// supportKinds are kinds of which objects are created before all others that are not Jobs, in this order: a claim gets its
// StorageClass when it is created.
var supportKinds = []string{"Namespace", "StorageClass", "PersistentVolume", "PersistentVolumeClaim"}

// supportInOrder returns the objects that are not Jobs, those that others need first, else in the order of the files.
func supportInOrder(objects []*manifest.Object) []*manifest.Object {
	support := slices.DeleteFunc(slices.Clone(objects), func(o *manifest.Object) bool {
		_, isJob := o.Job()
		return isJob
	})
	slices.SortStableFunc(support, func(a, b *manifest.Object) int { return cmp.Compare(rank(a), rank(b)) })
	return support
}

func rank(o *manifest.Object) int {
	if at := slices.Index(supportKinds, o.GVK.Kind); at >= 0 {
		return at
	}
	return len(supportKinds)
}
