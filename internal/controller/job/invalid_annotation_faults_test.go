package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFaultsOfAnnotationsAreNewOnce(t *testing.T) {
	s := jobState{}
	for _, step := range []struct {
		sentence    string
		faults, new []string
	}{
		{"the first is new", []string{"a"}, []string{"a"}},
		{"it is known", []string{"a"}, nil},
		{"another is new", []string{"a", "b"}, []string{"b"}},
		{"what was mended says nothing", []string{"b"}, nil},
		{"and is new when it is back", []string{"a", "b"}, []string{"a"}},
	} {
		got := s.newFaults(step.faults)
		if len(got) == 0 {
			got = nil
		}
		if diff := cmp.Diff(step.new, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.sentence, diff)
		}
	}
}
