package manifest

import (
	"testing"

	"pgregory.net/rapid"
)

func TestClosest(t *testing.T) {
	known := []string{"completions", "parallelism", "template", "backoffLimit", "tty", "a"}
	for name, want := range map[string]string{
		"completion":   "completions",
		"paralellism":  "parallelism",
		"backofflimit": "backoffLimit",
		"ttl":          "tty",
		"nodeSelector": "",
		"b":            "",
		"completions":  "", // it is known: nothing else was meant
	} {
		if got := Closest(name, known); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestDistanceIsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.StringMatching(`[a-z]{0,8}`).Draw(t, "a")
		b := rapid.StringMatching(`[a-z]{0,8}`).Draw(t, "b")
		d := distance(a, b)
		if d != distance(b, a) {
			t.Error("not symmetric")
		}
		if (d == 0) != (a == b) {
			t.Errorf("distance %d", d)
		}
		if d > max(len(a), len(b)) {
			t.Errorf("distance %d is more than writing it anew", d)
		}
	})
}
