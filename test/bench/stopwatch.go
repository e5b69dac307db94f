package main

import "time"

// stopwatch measures time and CPU time together.
type stopwatch struct {
	began time.Time
	cpu   time.Duration
}

func newStopwatch() *stopwatch { return &stopwatch{} }

func (s *stopwatch) start() {
	s.cpu = cpuUsed()
	s.began = time.Now()
}

func (s *stopwatch) stop() result {
	took := time.Since(s.began)
	return result{took: took, cpu: cpuUsed() - s.cpu, writes: -1}
}
