package loop_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/controller/loop"
)

func version(v string) *corev1.Pod {
	p := &corev1.Pod{}
	p.ResourceVersion = v
	return p
}

func TestTheNewestVersionIsThatOfTheServerUntilTheInformerShowsIt(t *testing.T) {
	var latest loop.Latest[*corev1.Pod]
	latest.ObserveWrite(version("9"))
	latest.ObserveWrite(version("10"))
	latest.ObserveWrite(version("8"))
	for _, step := range []struct {
		shown, newest string
		covered       bool
	}{{"9", "10", true}, {"10", "10", true}, {"11", "11", false}, {"9", "9", false}} {
		if covered := latest.Covers(version(step.shown)); covered != step.covered {
			t.Errorf("%s is shown: no news is %t", step.shown, covered)
		}
		if got := latest.Newest(version(step.shown)).ResourceVersion; got != step.newest {
			t.Errorf("%s is shown: %s is the newest, not %s", step.shown, got, step.newest)
		}
	}
}

func TestOlderComparesNumbers(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		older bool
	}{{"9", "10", true}, {"10", "9", false}, {"9", "9", false}, {"", "9", false}, {"9", "x", false}} {
		if got := loop.OlderVersion(c.a, c.b); got != c.older {
			t.Errorf("%q is older than %q: %t", c.a, c.b, got)
		}
	}
}
