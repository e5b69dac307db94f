package run

import "time"

// meterWindow is the time over which the rate is averaged: long enough to be steady, short enough to notice a change.
const meterWindow = 30 * time.Second

// rateMeter measures successes per second.
type rateMeter struct {
	samples []sample
}

type sample struct {
	at        time.Time
	succeeded int32
}

// add records a count. Samples within a second are merged.
func (m *rateMeter) add(at time.Time, succeeded int32) {
	if n := len(m.samples); n >= 2 && at.Sub(m.samples[n-2].at) < time.Second {
		m.samples[n-1] = sample{at, succeeded}
		return
	}
	m.samples = append(m.samples, sample{at, succeeded})
	for len(m.samples) > 2 && at.Sub(m.samples[1].at) > meterWindow {
		m.samples = m.samples[1:]
	}
}

// rate is successes per second over the window; 0 if unknown.
func (m *rateMeter) rate() float64 {
	if len(m.samples) < 2 {
		return 0
	}
	first, last := m.samples[0], m.samples[len(m.samples)-1]
	elapsed := last.at.Sub(first.at)
	if elapsed < time.Second || last.succeeded <= first.succeeded {
		return 0
	}
	return float64(last.succeeded-first.succeeded) / elapsed.Seconds()
}

// remaining is the time that the remaining successes take at the current rate; 0 if unknown.
func (m *rateMeter) remaining(remaining int32) time.Duration {
	rate := m.rate()
	if rate == 0 || remaining <= 0 {
		return 0
	}
	return time.Duration(float64(remaining) / rate * float64(time.Second))
}
