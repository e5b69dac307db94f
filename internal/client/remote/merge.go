package remote

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/stint-dev/stint/internal/client"
)

// merge is modify for kinds without strategic merge patch. A JSON merge patch replaces lists as a whole, so each patch is
// valid for one resource version only: that of observed or, after a conflict, the newest one.
func (r *resource[T]) merge(ctx context.Context, observed T, change func(T), p part) (T, error) {
	var none T
	for {
		patch, err := mergePatch(observed, change, p)
		if err != nil {
			return none, fmt.Errorf("comparing %s %s: %w", r.Kind, observed.GetName(), err)
		}
		if patch == nil {
			return observed, nil
		}
		written, err := r.patch(ctx, types.MergePatchType, observed, patch, p)
		if !apierrors.IsConflict(err) {
			return written, err
		}
		newest, getErr := r.Get(ctx, observed.GetNamespace(), observed.GetName())
		switch {
		case getErr != nil:
			return none, getErr
		case newest.GetUID() != observed.GetUID():
			return none, r.notFound(observed)
		case newest.GetResourceVersion() == observed.GetResourceVersion():
			return none, err
		}
		observed = newest
	}
}

// mergePatch returns the JSON merge patch for what change changes in one part of observed, or nil if it changes nothing.
func mergePatch[T client.Object](observed T, change func(T), p part) ([]byte, error) {
	changed := observed.DeepCopyObject().(T)
	change(changed)
	before, err := partOf(observed, p)
	if err != nil {
		return nil, err
	}
	after, err := partOf(changed, p)
	if err != nil {
		return nil, err
	}
	difference, err := jsonpatch.CreateMergePatch(before, after)
	if err != nil {
		return nil, err
	}
	patch := map[string]any{}
	if err := json.Unmarshal(difference, &patch); err != nil || len(patch) == 0 {
		return nil, err
	}
	metadata, _ := patch["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["uid"], metadata["resourceVersion"] = observed.GetUID(), observed.GetResourceVersion()
	patch["metadata"] = metadata
	return json.Marshal(patch)
}

// partOf returns one part of an object as JSON.
func partOf(obj client.Object, p part) ([]byte, error) {
	whole, err := plain(obj)
	if err != nil {
		return nil, err
	}
	fields := whole.(map[string]any)
	if p == statusPart {
		return json.Marshal(map[string]any{"status": fields["status"]})
	}
	delete(fields, "status")
	return json.Marshal(fields)
}
