package main

import (
	"fmt"
	"slices"
	"time"
)

// percentile returns the p-th of values, 0 ≤ p ≤ 100.
func percentile(values []float64, p int) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)*p/100]
}

// result is what one run of many pods or Jobs gave.
type result struct {
	things int
	took   time.Duration
	cpu    time.Duration
	// host and commands are the parts of cpu that a host process used by itself, and the commands that it waited for.
	host, commands time.Duration
	// writes is how many revisions the store counted up; negative where there is no store.
	writes int64
	events int64
}

func (r result) rate() float64         { return float64(r.things) / r.took.Seconds() }
func (r result) cpuEach() float64      { return r.each(r.cpu) }
func (r result) hostEach() float64     { return r.each(r.host) }
func (r result) commandsEach() float64 { return r.each(r.commands) }
func (r result) serverEach() float64   { return r.each(r.cpu - r.host - r.commands) }
func (r result) each(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000 / float64(r.things)
}
func (r result) writesEach() float64 { return float64(r.writes) / float64(r.things) }
func (r result) eventsEach() float64 { return float64(r.events) / float64(r.things) }
func medianOf(all []result, f func(result) float64) float64 {
	var values []float64
	for _, r := range all {
		values = append(values, f(r))
	}
	return percentile(values, 50)
}

// way is one of several ways to do the same work.
type way struct {
	name string
	run  func() (result, error)
	all  []result
}

// byTurns runs the ways by turns, every second round backwards, so that no way is always first.
func byTurns(rounds int, ways []*way) error {
	for range rounds {
		for _, w := range ways {
			r, err := w.run()
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			w.all = append(w.all, r)
		}
		slices.Reverse(ways)
	}
	if rounds%2 == 1 {
		slices.Reverse(ways)
	}
	return nil
}

// repeat runs measure as often as asked for.
func repeat(runs int, measure func() (result, error)) ([]result, error) {
	var all []result
	for range runs {
		r, err := measure()
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
