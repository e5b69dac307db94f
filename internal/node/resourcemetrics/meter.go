// Package resourcemetrics tells how much CPU and memory something uses, when it is asked. Between questions nothing is measured.
package resourcemetrics

import (
	"context"
	"sync"
	"time"

	"github.com/stint-dev/stint/internal/node/runtime"
)

const (
	// minWindow is the shortest time over which CPU time is compared. The kernel counts it in hundredths of a second.
	minWindow = time.Second
	// maxWindow is how long a measurement is kept for the next question: an average over more would be no news.
	maxWindow = time.Minute
)

// Meter measures things that have keys, as the caller's function does. Those that do not run are left out.
type Meter[K comparable] struct {
	measure func(context.Context, []K) ([]runtime.ResourceUsage, error)
	mu      sync.Mutex
	last    map[K]sample
}

// New returns a meter for a function that measures each key.
func New[K comparable](measure func(context.Context, []K) ([]runtime.ResourceUsage, error)) *Meter[K] {
	return &Meter[K]{measure: measure, last: map[K]sample{}}
}

// sample is what was measured at a time.
type sample struct {
	at time.Time
	runtime.ResourceUsage
}

// Metrics is what something uses.
type Metrics struct {
	// MilliCPU is the average over the Window, in thousandths of a CPU.
	MilliCPU int64
	// Memory is the working set in bytes at the end of it.
	Memory int64
	// At is the end of the Window.
	At     time.Time
	Window time.Duration
}

// Of returns the metrics of those keys that run. It compares with the measurements of the last question, if these are not too
// old; else it measures twice. In both cases it may take minWindow.
func (m *Meter[K]) Of(ctx context.Context, keys []K) (map[K]Metrics, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	before, err := m.before(ctx, keys)
	if err != nil {
		return nil, err
	}
	if err := wait(ctx, pauseAfter(before, time.Now())); err != nil {
		return nil, err
	}
	after, err := m.take(ctx, keys)
	if err != nil {
		return nil, err
	}
	m.keep(after)
	metrics := map[K]Metrics{}
	for key, s := range after {
		if was, known := before[key]; known {
			metrics[key] = between(was, s)
		}
	}
	return metrics, nil
}

// before returns a sample of each key that runs, to compare with.
func (m *Meter[K]) before(ctx context.Context, keys []K) (map[K]sample, error) {
	now, known := time.Now(), map[K]sample{}
	var unknown []K
	m.mu.Lock()
	for _, key := range keys {
		if s, ok := m.last[key]; ok && now.Sub(s.at) <= maxWindow {
			known[key] = s
		} else {
			unknown = append(unknown, key)
		}
	}
	m.mu.Unlock()
	if len(unknown) == 0 {
		return known, nil
	}
	taken, err := m.take(ctx, unknown)
	for key, s := range taken {
		known[key] = s
	}
	return known, err
}

func (m *Meter[K]) take(ctx context.Context, keys []K) (map[K]sample, error) {
	measured, err := m.measure(ctx, keys)
	if err != nil {
		return nil, err
	}
	now, samples := time.Now(), map[K]sample{}
	for i, usage := range measured {
		if usage.Running {
			samples[keys[i]] = sample{now, usage}
		}
	}
	return samples, nil
}

// keep keeps samples for the next question, and drops those that no question has needed for long.
func (m *Meter[K]) keep(samples map[K]sample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, s := range samples {
		m.last[key] = s
	}
	for key, s := range m.last {
		if time.Since(s.at) > maxWindow {
			delete(m.last, key)
		}
	}
}

// pauseAfter returns how long to wait until all samples are old enough.
func pauseAfter[K comparable](samples map[K]sample, now time.Time) time.Duration {
	var pause time.Duration
	for _, s := range samples {
		pause = max(pause, minWindow-now.Sub(s.at))
	}
	return pause
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// between compares two samples. CPU time shrinks if a process has ended that no other one of its container has waited for.
func between(before, after sample) Metrics {
	window := after.at.Sub(before.at)
	used := max(0, after.CPU-before.CPU)
	return Metrics{MilliCPU: milliCPU(used, window), Memory: after.Memory, At: after.at, Window: window}
}

func milliCPU(used, window time.Duration) int64 {
	if window <= 0 {
		return 0
	}
	return int64(1000 * used.Seconds() / window.Seconds())
}
