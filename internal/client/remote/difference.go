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

// difference returns the strategic merge patch that changes one part of before to that of after, or nil if they are
// equal. The patch has the object's UID, so that it does not apply to another object of the same name.
func difference(before, after client.Object, p part) ([]byte, error) {
	patch, err := fieldsPatch(before, after, p)
	if err != nil {
		return nil, err
	}
	metadata := map[string]any{}
	if p == mainPart {
		metadata = metadataPatch(before, after)
	}
	if len(patch)+len(metadata) == 0 {
		return nil, nil
	}
	metadata["uid"] = before.GetUID()
	patch["metadata"] = metadata
	return json.Marshal(patch)
}

// fieldsPatch returns the patch for the fields of part p, except metadata.
func fieldsPatch(before, after client.Object, p part) (map[string]any, error) {
	was, is := map[string]any{}, map[string]any{}
	b, a := reflect.ValueOf(before).Elem(), reflect.ValueOf(after).Elem()
	for i := range b.NumField() {
		name, _, _ := strings.Cut(b.Type().Field(i).Tag.Get("json"), ",")
		x, y := b.Field(i).Addr().Interface(), a.Field(i).Addr().Interface()
		if name == "" || name == "metadata" || (name == "status") != (p == statusPart) || reflect.DeepEqual(x, y) {
			continue
		}
		var err error
		if was[name], err = plain(x); err != nil {
			return nil, err
		}
		if is[name], err = plain(y); err != nil {
			return nil, err
		}
	}
	if len(was) == 0 {
		return map[string]any{}, nil
	}
	schema, err := strategicpatch.NewPatchMetaFromStruct(before)
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergeMapPatchUsingLookupPatchMeta(was, is, schema)
}

// plain returns v converted to maps, slices and scalars, as in JSON.
func plain(v any) (out any, err error) {
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	return out, err
}
