package remote

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/stint-dev/stint/internal/client"
)

// part is the part of an object that one write may change.
type part int

const (
	// mainPart is everything but the status.
	mainPart part = iota
	statusPart
)

// difference returns the strategic merge patch that turns one part of before into that of after, nil where they are
// equal. It names the object's UID, so that it does not apply to another object of the same name.
//
// Entries of finalizers, ownerReferences, labels and annotations are added and removed one by one: others write them at
// the same time.
func difference(before, after client.Object, p part) ([]byte, error) {
	was, err := fields(before, p)
	if err != nil {
		return nil, err
	}
	is, err := fields(after, p)
	if err != nil {
		return nil, err
	}
	schema, err := strategicpatch.NewPatchMetaFromStruct(before)
	if err != nil {
		return nil, err
	}
	patch, err := strategicpatch.CreateTwoWayMergeMapPatchUsingLookupPatchMeta(was, is, schema)
	if err != nil || len(patch) == 0 {
		return nil, err
	}
	metadata, ok := patch["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		patch["metadata"] = metadata
	}
	metadata["uid"] = before.GetUID()
	return json.Marshal(patch)
}

func fields(obj client.Object, p part) (map[string]any, error) {
	all, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	if p == statusPart {
		status, found := all["status"]
		if !found {
			status = map[string]any{}
		}
		return map[string]any{"status": status}, nil
	}
	delete(all, "status")
	if metadata, ok := all["metadata"].(map[string]any); ok {
		fillIn(metadata)
	}
	return all, nil
}

// fillIn puts empty collections where there are none. The difference to an absent one would be to remove it whole, with
// what others have put in meanwhile.
func fillIn(metadata map[string]any) {
	for _, list := range []string{"finalizers", "ownerReferences"} {
		if metadata[list] == nil {
			metadata[list] = []any{}
		}
	}
	for _, entries := range []string{"labels", "annotations"} {
		if metadata[entries] == nil {
			metadata[entries] = map[string]any{}
		}
	}
}
