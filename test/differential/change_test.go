package differential_test

import (
	"encoding/json"
	"fmt"
	"maps"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// changed returns the object after a change. The change is
//   - nothing: the object stays,
//   - a map: a merge patch (null removes a field),
//   - a list: a JSON patch (which can set a field to null).
func changed(object, change any) (any, error) {
	switch c := change.(type) {
	case nil:
		return object, nil
	case map[string]any:
		return merged(object, c), nil
	case []any:
		return patched(object, c)
	}
	return nil, fmt.Errorf("a change is a map or a list, not %T", change)
}

func merged(object any, change map[string]any) any {
	result := map[string]any{}
	if old, ok := object.(map[string]any); ok {
		maps.Copy(result, old)
	}
	for key, value := range change {
		if value == nil {
			delete(result, key)
		} else if inner, ok := value.(map[string]any); ok {
			result[key] = merged(result[key], inner)
		} else {
			result[key] = value
		}
	}
	return result
}

func patched(object any, change []any) (any, error) {
	operations, err := json.Marshal(change)
	if err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch(operations)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if text, err = patch.Apply(text); err != nil {
		return nil, err
	}
	var result any
	return result, json.Unmarshal(text, &result)
}
