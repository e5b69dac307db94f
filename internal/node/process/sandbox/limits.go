package sandbox

import (
	"time"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// cpuPeriod is the time in microseconds over which a CPU limit is held.
const cpuPeriod = 100_000

// limits are what a container may use; zero is without limit.
type limits struct {
	memory          int64
	cpu, cpuRequest int64 // thousandths of a CPU
}

func limitsOf(c *runtime.Container) limits {
	return limits{memory: c.MemoryLimitBytes, cpu: c.CPUMilliLimit, cpuRequest: c.CPUMilliRequest}
}

// bounded tells that the container's cgroup has state that no other container may inherit.
func (l limits) bounded() bool { return l.memory > 0 || l.cpu > 0 }

// quota is the CPU time a period; the kernel takes no less than a millisecond.
func (l limits) quota() int64 { return max(l.cpu*cpuPeriod/1000, 1000) }

// shares is the weight in the scale of version 1, where one CPU is 1024.
func (l limits) shares() int64 { return min(max(l.cpuRequest*1024/1000, 2), 262144) }

// weight is the same in the scale of version 2.
func (l limits) weight() int64 {
	if l.cpuRequest == 0 {
		return defaultWeight
	}
	return 1 + (l.shares()-2)*9999/262142
}

// defaultWeight is that of a fresh cgroup.
const defaultWeight = 100

// killTimeout is how long the kernel may take to end what was killed, and to let go of its cgroup. Neither takes a minute
// on a busy machine, only where a process is stuck in the kernel, as on a dead disk: that is left behind.
const killTimeout = time.Minute

// killWait waits for the kernel to finish something that it does not announce: a little at first, then longer.
type killWait struct {
	limit  time.Duration
	pause  time.Duration
	waited time.Duration
}

// next waits once more; it is false when the limit is reached.
func (p *killWait) next() bool {
	if p.waited >= p.limit {
		return false
	}
	p.pause = min(max(p.pause*2, 50*time.Microsecond), 10*time.Millisecond)
	time.Sleep(p.pause)
	p.waited += p.pause
	return true
}
