package resourcemetrics

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// machine has things that have used a quarter of a CPU each since the start, and counts how often each is measured.
type machine struct {
	start    time.Time
	ended    map[string]bool
	measured map[string]int
}

func newMachine() *machine {
	return &machine{start: time.Now(), ended: map[string]bool{}, measured: map[string]int{}}
}

func (m *machine) measure(_ context.Context, keys []string) ([]runtime.ResourceUsage, error) {
	usage := make([]runtime.ResourceUsage, len(keys))
	for i, key := range keys {
		m.measured[key]++
		if !m.ended[key] {
			usage[i] = runtime.ResourceUsage{Running: true, CPU: time.Since(m.start) / 4, Memory: 7}
		}
	}
	return usage, nil
}

func TestMetersMeasureWhenTheyAreAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		machine := newMachine()
		meter := New(machine.measure)
		ask := func(keys ...string) map[string]Metrics {
			t.Helper()
			got, err := meter.Of(t.Context(), keys)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		after := func(window time.Duration) Metrics {
			return Metrics{MilliCPU: 250, Memory: 7, At: time.Now(), Window: window}
		}
		for _, step := range []struct {
			name  string
			pause time.Duration
			keys  []string
			want  map[string]time.Duration
			// measured is how often a was measured by now.
			measured int
		}{
			{"at first it is measured twice", 0, []string{"a"}, map[string]time.Duration{"a": time.Second}, 2},
			{"then it is compared with the last time", 5 * time.Second, []string{"a"}, map[string]time.Duration{"a": 5 * time.Second}, 3},
			{"not with what has just been measured", 0, []string{"a"}, map[string]time.Duration{"a": time.Second}, 4},
			{"one that is new is measured twice", 3 * time.Second, []string{"a", "b"}, map[string]time.Duration{"a": 4 * time.Second, "b": time.Second}, 5},
			{"what is too old is not compared with", 2 * time.Minute, []string{"a"}, map[string]time.Duration{"a": time.Second}, 7},
			{"nothing was asked for", 0, nil, nil, 7},
		} {
			time.Sleep(step.pause)
			got := ask(step.keys...)
			var want map[string]Metrics
			for key, window := range step.want {
				if want == nil {
					want = map[string]Metrics{}
				}
				want[key] = after(window)
			}
			if diff := cmp.Diff(want, got); diff != "" || machine.measured["a"] != step.measured {
				t.Errorf("%s: measured %d times: %s", step.name, machine.measured["a"], diff)
			}
		}
		if len(meter.last) != 1 {
			t.Errorf("what is too old is kept: %v", meter.last)
		}
		machine.ended["a"] = true
		if got := ask("a", "b"); len(got) != 1 || got["b"].MilliCPU != 250 {
			t.Errorf("one that has ended: %v", got)
		}
	})
}

func TestAMeterThatCannotMeasure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		meter := New(func(context.Context, []string) ([]runtime.ResourceUsage, error) { return nil, broken })
		if _, err := meter.Of(t.Context(), []string{"a"}); !errors.Is(err, broken) {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := New(newMachine().measure).Of(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestCPUTimeThatShrinks(t *testing.T) {
	now := time.Now()
	before := sample{now, runtime.ResourceUsage{CPU: time.Minute}}
	if got := between(before, sample{now.Add(time.Second), runtime.ResourceUsage{CPU: time.Second}}); got.MilliCPU != 0 {
		t.Errorf("%+v", got)
	}
	if got := between(before, before); got.MilliCPU != 0 {
		t.Errorf("%+v", got)
	}
}

func TestTheMachineIsMeasured(t *testing.T) {
	busy, err := busyTime("cpu  100 20 3 9999 9999 4 5 9999 9999 9999\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
	if err != nil || busy != 132*tick {
		t.Errorf("%v, %v", busy, err)
	}
	memory, err := memoryInUse("MemTotal:        1000 kB\nMemFree:          100 kB\nMemAvailable:     300 kB\n")
	if err != nil || memory != 700<<10 {
		t.Errorf("%d, %v", memory, err)
	}
	if _, err := busyTime("no"); err == nil {
		t.Error("no CPUs")
	}
	if _, err := memoryInUse("MemTotal: 1 kB\n"); err == nil {
		t.Error("no memory")
	}
	usage, err := Machine()
	if err != nil || usage.CPU <= 0 || usage.Memory <= 0 {
		t.Errorf("%+v, %v", usage, err)
	}
}
