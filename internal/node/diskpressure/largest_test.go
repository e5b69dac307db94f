package diskpressure_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/diskpressure"
)

const mib, gib = 1 << 20, 1 << 30

func pod(name string, parts ...diskpressure.Part) diskpressure.Holder {
	return diskpressure.Holder{Kind: diskpressure.Pod, Namespace: "default", Name: name, UID: types.UID(name), Parts: parts}
}

func scratch(bytes int64) diskpressure.Part {
	return diskpressure.Part{What: "emptyDir scratch", Bytes: bytes}
}

func logs(bytes int64) diskpressure.Part {
	return diskpressure.Part{What: "logs of container main", Bytes: bytes}
}

func claim(name string, bytes int64) diskpressure.Holder {
	return diskpressure.Holder{Kind: diskpressure.Claim, Namespace: "default", Name: name, Parts: []diskpressure.Part{{Bytes: bytes}}}
}

func TestNames(t *testing.T) {
	for sentence, c := range map[string]struct {
		size    int64
		holders []diskpressure.Holder
		want    string
	}{
		"no pod":                     {size: gib},
		"pods without files":         {size: gib, holders: []diskpressure.Holder{pod("a"), pod("b", scratch(0))}},
		"a file system without size": {holders: []diskpressure.Holder{pod("a")}},
		"a pod with little":          {size: 100 * mib, holders: []diskpressure.Holder{pod("a", scratch(mib-1))}},
		"a pod with a hundredth": {
			size: 100 * mib, holders: []diskpressure.Holder{pod("a", scratch(mib))},
			want: "; the largest there: pod default/a (emptyDir scratch 1 MiB)",
		},
		"a hundredth of a large disk is much": {
			size: 1000 * gib, holders: []diskpressure.Holder{pod("a", scratch(gib)), pod("b", scratch(99*mib))},
			want: "; the largest there: pod default/a (emptyDir scratch 1.0 GiB)",
		},
		"the largest come first, three at most": {
			size:    gib,
			holders: []diskpressure.Holder{pod("a", scratch(20*mib)), claim("b", 40*mib), pod("c", scratch(30*mib)), pod("d", scratch(50*mib))},
			want:    "; the largest there: pod default/d (emptyDir scratch 50 MiB), claim default/b (40 MiB), pod default/c (emptyDir scratch 30 MiB)",
		},
		"the largest parts come first, and small ones are left out": {
			size:    gib,
			holders: []diskpressure.Holder{pod("a", logs(40*mib), scratch(100*mib), diskpressure.Part{What: "emptyDir tiny", Bytes: mib})},
			want:    "; the largest there: pod default/a (emptyDir scratch 100 MiB, logs of container main 40 MiB)",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := diskpressure.Names(diskpressure.Largest(c.holders, c.size)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAMessageSaysWhatAPodTakes(t *testing.T) {
	message := "less than 1.0 GiB are free" + diskpressure.Names([]diskpressure.Holder{
		pod("a-b", scratch(100*mib), logs(40*mib)), claim("a", 90*mib), pod("c", logs(80*mib))})
	for name, want := range map[string]string{
		"a-b": "emptyDir scratch 100 MiB, logs of container main 40 MiB", "c": "logs of container main 80 MiB", "a": "", "b": "",
	} {
		if got := diskpressure.OfPod(message, "default", name); got != want {
			t.Errorf("it says of pod %s: %q, want %q", name, got, want)
		}
	}
	if got := diskpressure.OfPod(message, "other", "c"); got != "" {
		t.Errorf("it says of the pod of another namespace: %q", got)
	}
}

func TestHaveChanged(t *testing.T) {
	a, b := pod("a", scratch(100*mib)), pod("b", scratch(90*mib))
	again := a
	again.UID = "another"
	for sentence, c := range map[string]struct {
		now  []diskpressure.Holder
		want bool
	}{
		"nothing":                   {[]diskpressure.Holder{a, b}, false},
		"they have changed places":  {[]diskpressure.Holder{b, a}, false},
		"one takes a little more":   {[]diskpressure.Holder{pod("a", scratch(150*mib)), b}, false},
		"one takes more than twice": {[]diskpressure.Holder{pod("a", scratch(201*mib)), b}, true},
		"one takes less than half":  {[]diskpressure.Holder{pod("a", scratch(49*mib)), b}, true},
		"one is gone":               {[]diskpressure.Holder{a}, true},
		"there is one more":         {[]diskpressure.Holder{a, b, pod("c", scratch(mib))}, true},
		"another is in its place":   {[]diskpressure.Holder{a, claim("b", 90*mib)}, true},
		"a pod was made anew":       {[]diskpressure.Holder{again, b}, true},
		"there are none any more":   {nil, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := diskpressure.HaveChanged([]diskpressure.Holder{a, b}, slices.Clone(c.now)); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
