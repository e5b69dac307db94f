package main

import "time"

// stopwatch measures time and CPU time together.
type stopwatch struct {
	began               time.Time
	own, host, commands time.Duration
}

func newStopwatch() *stopwatch { return &stopwatch{} }

func (s *stopwatch) start() {
	s.own = ownCPU()
	s.host, s.commands = hostCPU()
	s.began = time.Now()
}

func (s *stopwatch) stop() result {
	took := time.Since(s.began)
	r := result{took: took, writes: -1}
	host, commands := hostCPU()
	r.host, r.commands = host-s.host, commands-s.commands
	r.cpu = ownCPU() - s.own + r.host + r.commands
	return r
}
