package job

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"
	"pgregory.net/rapid"
)

func TestParseIndexes(t *testing.T) {
	tests := map[string]struct {
		s, want string
	}{
		"nothing":                      {"", ""},
		"one":                          {"3", "3"},
		"a range":                      {"3-5", "3-5"},
		"two neighbours":               {"3,4", "3,4"},
		"a range of two":               {"3-4", "3,4"},
		"neighbouring ranges":          {"1-2,3-4", "1-4"},
		"out of order and overlapping": {"5-7,1,6-8", "1,5-8"},
		"beyond completions":           {"8-15,20", "8,9"},
		"spoiled parts":                {"1,x,3-,-4,7-6,+8,9", "1,9"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := ParseIndexes(tt.s, 10).String(); got != tt.want {
				t.Errorf("%q means %q, want %q", tt.s, got, tt.want)
			}
		})
	}
}

// FuzzParseIndexes expects what is parsed to be in normal form, so that writing and reading it changes nothing.
func FuzzParseIndexes(f *testing.F) {
	for _, s := range []string{"", "0", "1,3-5,7", "9-1", "1-2-3", "00,1", "99999999999999999999", "-", ","} {
		f.Add(s, 100)
	}
	f.Fuzz(func(t *testing.T, s string, completions int) {
		x := ParseIndexes(s, completions)
		for i, iv := range x {
			if iv.First > iv.Last || iv.First < 0 || iv.Last >= completions || (i > 0 && x[i-1].Last+1 >= iv.First) {
				t.Fatalf("%q means %v", s, x)
			}
		}
		if again := ParseIndexes(x.String(), completions); !cmp.Equal(x, again) {
			t.Fatalf("%v is written %q and read %v", x, x.String(), again)
		}
	})
}

// TestIndexesAreASet compares them with a plain set.
func TestIndexesAreASet(t *testing.T) {
	numbers := rapid.SliceOfN(rapid.IntRange(0, 30), 0, 20)
	rapid.Check(t, func(t *rapid.T) {
		a, b := numbers.Draw(t, "a"), numbers.Draw(t, "b")
		x, y := Indexes(nil).With(a...), Indexes(nil).With(b...)
		setA, setB := sets.New(a...), sets.New(b...)
		same := func(what string, got Indexes, want sets.Set[int]) {
			if list := got.first(100); !slices.Equal(list, sets.List(want)) {
				t.Fatalf("%s: %v, want %v", what, list, sets.List(want))
			}
			if got.Count() != want.Len() {
				t.Fatalf("%s: counts %d of %d", what, got.Count(), want.Len())
			}
		}
		same("with", x, setA)
		same("union", x.Union(y), setA.Union(setB))
		same("without", x.Without(y), setA.Difference(setB))
		same("parsed", ParseIndexes(x.String(), 31), setA)
		for i := -1; i <= 31; i++ {
			if x.Has(i) != setA.Has(i) {
				t.Fatalf("%v has %d: %v", x, i, x.Has(i))
			}
		}
	})
}
