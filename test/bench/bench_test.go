package main

import (
	"fmt"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"
)

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

func TestMemoryOfThisProcess(t *testing.T) {
	m := memoryOf(os.Getpid())
	if m.anonymous <= 0 || m.resident < m.anonymous {
		t.Errorf("memory %+v cannot be", m)
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

func TestTheWholeProductIsMeasured(t *testing.T) {
	b, err := newBench(options{parallelism: "2", runs: 1, pods: 5, jobs: 2, finished: 5, dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]func() (result, error){
		"one Job of many pods": func() (result, error) { return b.oneJob(t.Context(), false, 2) },
		"many Jobs of one pod": func() (result, error) { return b.oneRun(t.Context(), false, b.jobs, 1, 1) },
		"pods without results": func() (result, error) {
			b.maxResults = new(int)
			defer func() { b.maxResults = nil }()
			return b.oneJob(t.Context(), false, 2)
		},
		"deletion of a Job":      func() (result, error) { return b.oneDeletion(t.Context(), "Background") },
		"deletion in foreground": func() (result, error) { return b.oneDeletion(t.Context(), "Foreground") },
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
