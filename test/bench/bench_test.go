package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/node/process"
)

func TestMain(m *testing.M) {
	if handled, code := process.HostMain(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func TestPercentile(t *testing.T) {
	cases := map[string]struct {
		values []float64
		p      int
		want   float64
	}{
		"nothing has no percentiles":                {nil, 50, 0},
		"one value is all percentiles":              {[]float64{7}, 99, 7},
		"the median of three is the middle":         {[]float64{9, 1, 5}, 50, 5},
		"the 99th of a hundred is the last but one": {upTo(100), 99, 99},
		"the hundredth is the greatest":             {upTo(100), 100, 100},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := percentile(c.values, c.p); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func upTo(n int) (all []float64) {
	for i := range n {
		all = append(all, float64(n-i))
	}
	return all
}

func TestPercentilesGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1e6), 1, 50).Draw(t, "values")
		p := rapid.IntRange(0, 99).Draw(t, "p")
		if percentile(values, p) > percentile(values, p+1) {
			t.Errorf("percentile %d is above the next of %v", p, values)
		}
	})
}

func TestAResultIsSharedOutAmongWhatWasDone(t *testing.T) {
	r := result{things: 10, took: 2 * time.Second, cpu: 30 * time.Millisecond, writes: 40, events: 5}
	got := []float64{r.rate(), r.cpuEach(), r.writesEach(), r.eventsEach()}
	if want := []float64{5, 3, 4, 0.5}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("rate, CPU, writes and events are %v, want %v", got, want)
	}
}

func TestTheEndOfALongLoadMayBeFivePercentSlowerThanItsStart(t *testing.T) {
	tenth := func(took, cpu time.Duration, mb float64) stretch {
		return stretchOf(result{took: took, cpu: cpu}, 1000, footprint{allocated: 10}, footprint{allocated: 10 + mb})
	}
	first := tenth(time.Second, time.Second, 100)
	slowest := tenth(2*time.Second, 2*time.Second, 200) // is neither first nor last
	cases := map[string]struct {
		last stretch
		want []string
	}{
		"as fast":          {first, []string{"ok", "ok", "ok"}},
		"a little slower":  {tenth(1040*time.Millisecond, 1040*time.Millisecond, 104), []string{"ok", "ok", "ok"}},
		"slower":           {tenth(1100*time.Millisecond, time.Second, 100), []string{"MISSED", "ok", "ok"}},
		"more CPU time":    {tenth(time.Second, 1100*time.Millisecond, 100), []string{"ok", "MISSED", "ok"}},
		"more allocations": {tenth(time.Second, time.Second, 110), []string{"ok", "ok", "MISSED"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &bench{}
			b.judgeSteady("a load", []stretch{first, slowest, c.last})
			var got []string
			for _, f := range b.figures {
				got = append(got, f.verdict())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("rate, CPU time and allocations are %v, want %v", got, c.want)
			}
		})
	}
}

func TestMemoryOfThisProcess(t *testing.T) {
	m := memoryOf(os.Getpid())
	if m.anonymous <= 0 || m.resident < m.anonymous {
		t.Errorf("memory %+v cannot be", m)
	}
}

func TestHostsOfEarlierRunsCountForNothing(t *testing.T) {
	const ms = time.Millisecond
	old := cpuTimes{own: 900 * ms, children: 700 * ms}
	cases := map[string]struct {
		before, now    hostTimes
		host, commands time.Duration
	}{
		"a host counts from the start of the run": {
			hostTimes{7: {own: 10 * ms, children: 20 * ms}}, hostTimes{7: {own: 40 * ms, children: 90 * ms}}, 30 * ms, 70 * ms},
		"one that the run has started counts as a whole": {
			hostTimes{}, hostTimes{7: {own: 40 * ms, children: 90 * ms}}, 40 * ms, 90 * ms},
		"one of an earlier run that stays counts for nothing": {
			hostTimes{6: old}, hostTimes{6: old, 7: {own: 40 * ms}}, 40 * ms, 0},
		"one of an earlier run that ends meanwhile is not taken off": {
			hostTimes{6: old, 7: {}}, hostTimes{7: {own: 40 * ms, children: 90 * ms}}, 40 * ms, 90 * ms},
		"without a host nothing counts": {
			hostTimes{6: old}, hostTimes{}, 0, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			host, commands := c.now.since(c.before)
			if host != c.host || commands != c.commands {
				t.Errorf("host %v and commands %v, want %v and %v", host, commands, c.host, c.commands)
			}
		})
	}
}

func TestAProcessThatIsGoneHasNoTimes(t *testing.T) {
	gone := exec.Command(noop[0])
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	if used, ok := timesOf(gone.Process.Pid); ok {
		t.Errorf("a process that is gone has used %v", used)
	}
	if _, ok := timesOf(os.Getpid()); !ok {
		t.Error("this process has no times")
	}
}

func TestTheHostOfAServerIsFound(t *testing.T) {
	b, err := newBench(smallOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if hosts := hostsOf(self, os.Getpid()); len(hosts) != 0 {
		t.Errorf("without a server: %v", hosts)
	}
	c, err := b.start(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if hosts := hostsOf(self, os.Getpid()); len(hosts) != 1 {
		t.Errorf("with a server: %v", hosts)
	}
	if err := c.stop(); err != nil {
		t.Error(err)
	}
}

func TestMemoryIsOfOneRunOnly(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if m := memoryOfOthers(self, nil); m.anonymous <= 0 {
		t.Errorf("this process has %+v", m)
	}
	if m := memoryOfOthers(self, running(self)); m != (memory{}) {
		t.Errorf("without all its processes the program has %+v", m)
	}
}

func TestForkExecRunsTheCommandAndReportsItsFailure(t *testing.T) {
	if err := forkExec(t.Context(), 5, 2); err != nil {
		t.Error(err)
	}
	command := noop
	t.Cleanup(func() { noop = command })
	noop = []string{"/bin/false"}
	if err := forkExec(t.Context(), 5, 2); err == nil {
		t.Error("a command that fails went unnoticed")
	}
}

func smallOptions(t *testing.T) options {
	return options{parallelism: "2", runs: 1, pods: 5, jobs: 2, finished: 5, largePods: 20, rounds: 2, roundPods: 5, dir: t.TempDir()}
}

func TestTheWholeProductIsMeasured(t *testing.T) {
	b, err := newBench(smallOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	deletes := func(how metav1.DeletionPropagation) (result, error) {
		r, err := b.oneDeletion(t.Context(), how)
		return r.result, err
	}
	runs := map[string]func() (result, error){
		"one Job of many pods": func() (result, error) { return b.oneJob(t.Context(), false, 2) },
		"many Jobs of one pod": func() (result, error) { return b.oneRun(t.Context(), false, b.jobs, 1, 1) },
		"pods without results": func() (result, error) {
			b.maxResults = new(int)
			defer func() { b.maxResults = nil }()
			return b.oneJob(t.Context(), false, 2)
		},
		"deletion of a Job":      func() (result, error) { return deletes(metav1.DeletePropagationBackground) },
		"deletion in foreground": func() (result, error) { return deletes(metav1.DeletePropagationForeground) },
	}
	for name, run := range runs {
		t.Run(name, func(t *testing.T) {
			r, err := run()
			if err != nil {
				t.Fatal(err)
			}
			if r.writes < int64(r.things) {
				t.Errorf("%d writes for %d things", r.writes, r.things)
			}
		})
	}
}

func TestPartsAreChosenByName(t *testing.T) {
	for only, want := range map[string]string{"a": "a", "g,a": "a g", byDefault: "a b c d e f g h i j k", "pulls": "pulls"} {
		chosen, err := choose(only)
		if err != nil {
			t.Errorf("-only %s: %v", only, err)
		}
		var names []string
		for _, p := range chosen {
			names = append(names, p.name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("-only %s runs %s, want %s", only, got, want)
		}
	}
	for _, only := range []string{"", "z", "a,z", "a,a"} {
		if _, err := choose(only); err == nil || !strings.Contains(err.Error(), "-only") {
			t.Errorf("-only %q: %v, want an error that names the flag", only, err)
		}
	}
}

func TestAPartThatFailsDoesNotKeepTheOthersFromBeingMeasured(t *testing.T) {
	broken := errors.New("broken")
	b := &bench{}
	err := b.runParts(t.Context(), []part{
		{"x", func(*bench, context.Context) error { return broken }},
		{"y", func(b *bench, _ context.Context) error { b.judge("pods/s", 1, atLeast(1)); return nil }},
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "part x") {
		t.Errorf("error %v, want that of part x", err)
	}
	if len(b.figures) != 1 || b.figures[0].part != "y" {
		t.Errorf("measured %+v, want one figure of part y", b.figures)
	}
}

func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		measured, anchor float64
		aim              aim
		want             string
	}{
		"below the most":                 {39, 0, atMost(40), "ok"},
		"exactly the most":               {40, 0, atMost(40), "ok"},
		"above the most":                 {41, 0, atMost(40), "MISSED"},
		"above the least":                {0.9, 0, atLeast(0.8), "ok"},
		"below the least":                {0.7, 0, atLeast(0.8), "MISSED"},
		"the ratio is above the least":   {280, 100, atLeast(2), "ok"},
		"only the ratio is below":        {180, 100, atLeast(2), "MISSED"},
		"only the ratio is at most that": {60, 100, atMost(1), "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (figure{measured: c.measured, anchor: c.anchor, aim: c.aim}).verdict(); got != c.want {
				t.Errorf("%v beside %v, aim %v: %s, want %s", c.measured, c.anchor, c.aim, got, c.want)
			}
		})
	}
}

func TestAimsOfMemory(t *testing.T) {
	if got, want := (stored{pods: 1000, others: 500}).atRestAim(), atMost(40+8+2); got != want {
		t.Errorf("at rest with 1,000 pods and 500 others: %v, want %v", got, want)
	}
	if got, want := (footprint{live: 30}).underLoadAim(), atMost(2*30+64); got != want {
		t.Errorf("under load with 30 MB of live heap: %v, want %v", got, want)
	}
}

func TestSmokeFailsAboveABound(t *testing.T) {
	b := &bench{}
	if err := b.judgeSmoke(smokeResult{}); err != nil {
		t.Errorf("nothing is above no bound: %v", err)
	}
	const much = 1e9
	err := b.judgeSmoke(smokeResult{much, much, much, much, much, much, much})
	for _, f := range smokeBounds {
		if !strings.Contains(fmt.Sprint(err), f.what) {
			t.Errorf("%q does not fail", f.what)
		}
	}
}

func TestSmokeMeasuresServerAndController(t *testing.T) {
	b, err := newBench(smallOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	const pods = 20
	r, err := b.smokeServer(t.Context(), pods)
	if err != nil {
		t.Fatal(err)
	}
	if r.objects <= 0 || r.kilobytes <= 0 || r.writes < 3 || r.idleHeap <= 0 || r.store <= 0 {
		t.Errorf("%+v cannot be", r)
	}
	requests, err := b.smokeController(t.Context(), pods)
	if err != nil {
		t.Fatal(err)
	}
	if requests < 2 {
		t.Errorf("%v requests a pod, want at least its creation and the removal of its finalizer", requests)
	}
}

func TestTenthsBeginAfterTheWarmUpAndEndWithTheJob(t *testing.T) {
	cases := map[string]struct {
		p    tenths
		want int
	}{
		"before the first":                 {tenths{pods: 21000}, warmUp},
		"the first":                        {tenths{pods: 21000, first: 1000, done: 1000}, 3000},
		"the second, counted late":         {tenths{pods: 21000, first: 1000, done: 3100, all: make([]stretch, 1)}, 5000},
		"the last":                         {tenths{pods: 21000, first: 1030, done: 19020, all: make([]stretch, 9)}, 21000},
		"after several that ended at once": {tenths{pods: 1050, first: 1000, done: 1040, all: make([]stretch, 2)}, 1041},
		"after the last there is none":     {tenths{pods: 21000, first: 1000, done: 21000, all: make([]stretch, 10)}, 23000},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.p.next(); got != c.want {
				t.Errorf("ends at %d pods, want %d", got, c.want)
			}
		})
	}
}
