package main

import (
	"os"
	"time"
)

// stopwatch measures time and CPU time together, of a server with its process host.
type stopwatch struct {
	// server is what the server has used by itself so far, and hosts what process hosts have.
	server func() time.Duration
	hosts  func() hostTimes

	began    time.Time
	byServer time.Duration
	byHosts  hostTimes
}

// newStopwatch measures this process, with the servers in it.
func newStopwatch() *stopwatch {
	return &stopwatch{server: ownCPU, hosts: func() hostTimes {
		self, err := os.Executable()
		if err != nil {
			return nil
		}
		return hostsOf(self, os.Getpid())
	}}
}

// stopwatch measures a server that is a process of its own.
func (s *serverProcess) stopwatch() *stopwatch {
	pid := s.cmd.Process.Pid
	return &stopwatch{hosts: func() hostTimes { return hostsOf(s.program, pid) }, server: func() time.Duration {
		used, _ := timesOf(pid)
		return used.own
	}}
}

func (s *stopwatch) start() {
	s.byServer, s.byHosts = s.server(), s.hosts()
	s.began = time.Now()
}

// stop returns what the time since start has cost.
func (s *stopwatch) stop() result {
	r := result{took: time.Since(s.began), writes: -1}
	r.host, r.commands = s.hosts().since(s.byHosts)
	r.cpu = s.server() - s.byServer + r.host + r.commands
	return r
}
