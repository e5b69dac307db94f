package remote

import (
	"encoding/json"
	"reflect"
	"strings"

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
	was, is, err := changedFields(before, after, p)
	if err != nil || len(was) == 0 {
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

// changedFields returns the top-level fields that differ. Most changes are to the metadata alone, which is little.
func changedFields(before, after client.Object, p part) (was, is map[string]any, err error) {
	was, is = map[string]any{}, map[string]any{}
	b, a := reflect.ValueOf(before).Elem(), reflect.ValueOf(after).Elem()
	for i := range b.NumField() {
		name, _, _ := strings.Cut(b.Type().Field(i).Tag.Get("json"), ",")
		x, y := b.Field(i).Interface(), a.Field(i).Interface()
		if name == "" || (name == "status") != (p == statusPart) || reflect.DeepEqual(x, y) {
			continue
		}
		if was[name], err = plain(x); err != nil {
			return nil, nil, err
		}
		if is[name], err = plain(y); err != nil {
			return nil, nil, err
		}
	}
	for _, side := range []map[string]any{was, is} {
		if metadata, ok := side["metadata"].(map[string]any); ok {
			fillIn(metadata)
		}
	}
	return was, is, nil
}

// plain returns v as JSON has it.
func plain(v any) (out any, err error) {
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	return out, err
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
