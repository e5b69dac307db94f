package differential_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestClusterDefinitionSaysOfResultSlicesWhatTheServerSays creates slices on a cluster and on a server. Both must
// accept the same ones.
func TestClusterDefinitionSaysOfResultSlicesWhatTheServerSays(t *testing.T) {
	result := func(change map[string]any) map[string]any {
		r := map[string]any{"pod": "p", "uid": "u", "phase": "Succeeded"}
		maps.Copy(r, change)
		return r
	}
	with := func(change map[string]any) map[string]any {
		return map[string]any{"results": []any{result(change)}}
	}
	cases := map[string]struct {
		slice map[string]any
		code  int
	}{
		"one result":              {with(nil), http.StatusCreated},
		"no result":               {map[string]any{"results": []any{}}, http.StatusCreated},
		"as many as there may be": {map[string]any{"results": slices.Repeat([]any{result(nil)}, 1000)}, http.StatusCreated},
		"too many":                {map[string]any{"results": slices.Repeat([]any{result(nil)}, 1001)}, http.StatusUnprocessableEntity},
		"more results before":     {map[string]any{"before": 100, "results": []any{}}, http.StatusCreated},
		"less than none before":   {map[string]any{"before": -1, "results": []any{}}, http.StatusUnprocessableEntity},
		"no pod":                  {with(map[string]any{"pod": ""}), http.StatusUnprocessableEntity},
		"no uid":                  {with(map[string]any{"uid": ""}), http.StatusUnprocessableEntity},
		"a phase that is none":    {with(map[string]any{"phase": "Done"}), http.StatusUnprocessableEntity},
		"a negative index":        {with(map[string]any{"index": -1}), http.StatusUnprocessableEntity},
		"negative restarts":       {with(map[string]any{"restarts": -1}), http.StatusUnprocessableEntity},
		"a negative signal":       {with(map[string]any{"signal": -1}), http.StatusUnprocessableEntity},
		"a negative exit code":    {with(map[string]any{"exitCode": -1}), http.StatusCreated},
		"a long name":             {with(map[string]any{"node": strings.Repeat("n", 253)}), http.StatusCreated},
		"a name without end":      {with(map[string]any{"node": strings.Repeat("n", 254)}), http.StatusUnprocessableEntity},
		"a uid without end":       {with(map[string]any{"uid": strings.Repeat("u", 254)}), http.StatusUnprocessableEntity},
		"a long message":          {with(map[string]any{"message": strings.Repeat("m", 4096)}), http.StatusCreated},
		"a message without end":   {with(map[string]any{"message": strings.Repeat("m", 4097)}), http.StatusUnprocessableEntity},
	}
	cluster, server := kubernetes(t), stint(t)
	cluster.define(t, "../../deploy/crds/stint.dev_resultslices.yaml")
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.slice["apiVersion"], c.slice["kind"] = "stint.dev/v1", "ResultSlice"
			c.slice["metadata"] = map[string]any{"generateName": "s-"}
			body, err := json.Marshal(c.slice)
			must(t, err)
			for _, e := range []*endpoint{cluster, server} {
				got, err := e.do(call{method: http.MethodPost, contentType: "application/json", body: body,
					path: collection("ResultSlice", "default")})
				must(t, err)
				if got.code != c.code {
					t.Errorf("%s answers %d, want %d: %s", e.name, got.code, c.code, got.body[:min(len(got.body), 500)])
				}
			}
		})
	}
}
