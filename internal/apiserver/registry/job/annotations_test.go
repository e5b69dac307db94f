package job

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
	core "github.com/stint-dev/stint/internal/job"
)

func TestChangesOfJobAnnotations(t *testing.T) {
	tests := map[string]struct {
		was, is map[string]string
		want    []string
	}{
		"a good value may come":            {nil, registrytest.Annotations("backoff-seconds", "10"), nil},
		"a bad value may not":              {nil, registrytest.Annotations("backoff-seconds", "soon"), []string{"backoff-seconds"}},
		"a bad value that is stored stays": {registrytest.Annotations("backoff-seconds", "soon"), registrytest.Annotations("backoff-seconds", "soon"), nil},
		"it may go":                        {registrytest.Annotations("backoff-seconds", "soon"), nil, nil},
		"it may not become another bad one": {registrytest.Annotations("backoff-seconds", "soon"), registrytest.Annotations("backoff-seconds", "now"),
			[]string{"backoff-seconds"}},
		"a value that does not go with what is stored may not come": {registrytest.Annotations("max-backoff-seconds", "20"),
			registrytest.Annotations("max-backoff-seconds", "20", "backoff-seconds", "30"), []string{"max-backoff-seconds"}},
		"every fault is told": {nil, registrytest.Annotations("backoff-seconds", "", "failed-pods-limit", "-1", "depends-on", "A b"),
			[]string{"backoff-seconds", "failed-pods-limit", "depends-on"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var want []string
			for _, key := range tt.want {
				want = append(want, "metadata.annotations[stint.dev/"+key+"]")
			}
			var got []string
			for _, err := range ValidateAnnotations(tt.is, tt.was, core.AnnotationsPath) {
				got = append(got, err.Field)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnnotationsThatLookLikeOursAreWarnedOf(t *testing.T) {
	tests := map[string]string{
		"stint.dev/backoff-second":       "stint.dev/backoff-seconds",
		"stint.dev/backoffSeconds":       "stint.dev/backoff-seconds",
		"stint.dev/dependson":            "stint.dev/depends-on",
		"stint.dev/failed-pod-limit":     "stint.dev/failed-pods-limit",
		"stint.dev/backoff-seconds":      "",
		"stint.dev/manifest-hash":        "",
		"stint.dev/":                     "",
		"example.com/backoff-second":     "",
		"stint.dev/pending-timeout-secs": "stint.dev/pending-timeout-seconds",
	}
	for key, meant := range tests {
		t.Run(key, func(t *testing.T) {
			got := strings.Join(WarnAnnotations(map[string]string{key: "1"}, nil, core.AnnotationsPath), "\n")
			if meant == "" && got != "" {
				t.Errorf("warns of nothing: %s", got)
			}
			if !strings.Contains(got, meant) {
				t.Errorf("warning %q, want one that names %s", got, meant)
			}
		})
	}
}
