package diskpressure_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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
			if got := diskpressure.Names(diskpressure.Largest(nil, c.holders, c.size)); got != c.want {
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

func TestWhatWasNamedStaysWhileItIsAboutTrue(t *testing.T) {
	a, b := pod("a", scratch(100*mib)), pod("b", scratch(90*mib))
	again := a
	again.UID = "another"
	named := []diskpressure.Holder{a, b, pod("c", scratch(80*mib))}
	with := func(changed ...diskpressure.Holder) []diskpressure.Holder {
		return append(changed, named[len(changed):]...)
	}
	for sentence, c := range map[string]struct {
		named, now []diskpressure.Holder
		stays      bool
	}{
		"nothing has changed":           {named, with(), true},
		"they have changed places":      {named, with(b, a), true},
		"one takes a little more":       {named, with(pod("a", scratch(150*mib))), true},
		"one takes more than twice":     {named, with(pod("a", scratch(201*mib))), false},
		"one takes less than half":      {named, with(pod("a", scratch(49*mib))), false},
		"one is gone":                   {named, named[1:], false},
		"all are gone":                  {named, nil, false},
		"a pod was made anew":           {named, with(again), false},
		"a fourth is a little larger":   {named, append(with(), pod("d", scratch(160*mib))), true},
		"a fourth is much larger":       {named, append(with(), pod("d", scratch(161*mib))), false},
		"there is a third":              {named[:2], named, false},
		"a third takes next to nothing": {named[:2], append(with()[:2], pod("c", scratch(1))), true},
		"a claim is in a pod's place":   {named[:2], []diskpressure.Holder{a, claim("b", 90*mib)}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			largest := diskpressure.Largest(c.named, c.now, gib)
			fresh := diskpressure.Largest(nil, c.now, gib)
			if stays := cmp.Equal(largest, c.named); stays != c.stays {
				t.Errorf("stays is %t: %v", stays, largest)
			}
			if !c.stays && !cmp.Equal(largest, fresh) {
				t.Errorf("got %v, want %v", largest, fresh)
			}
		})
	}
}

func TestOtherNamesAreNoNews(t *testing.T) {
	const short = "less than 1.0 GiB are free"
	a := short + diskpressure.Names([]diskpressure.Holder{{Kind: diskpressure.Pod, Namespace: "n", Name: "a"}})
	b := short + diskpressure.Names([]diskpressure.Holder{{Kind: diskpressure.Pod, Namespace: "n", Name: "b"}})
	for _, tc := range []struct {
		before, now string
		want        bool
	}{
		{short, short, true}, {a, a, true}, {a, b, true}, {a, short, true}, {short, a, false}, {"", a, false}, {a, "", false}, {a, "more " + b, false},
	} {
		if got := diskpressure.SaysTheSame(tc.before, tc.now); got != tc.want {
			t.Errorf("%q, then %q: %t", tc.before, tc.now, got)
		}
	}
}
