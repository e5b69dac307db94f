package sandbox

import (
	"time"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// cpuPeriod is the period in microseconds of a CPU limit.
const cpuPeriod = 100_000

// limits are what a container may use; zero is without limit.
type limits struct {
	memory          int64
	cpu, cpuRequest int64 // thousandths of a CPU
}

func limitsOf(c *runtime.Container) limits {
	return limits{memory: c.MemoryLimitBytes, cpu: c.CPUMilliLimit, cpuRequest: c.CPUMilliRequest}
}

// bounded reports whether the container's cgroup has limits, so that no other container may use it again.
func (l limits) bounded() bool { return l.memory > 0 || l.cpu > 0 }

// quota is the CPU time per period in microseconds. The kernel accepts at least a millisecond.
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

// killTimeout is how long the kernel may take until processes that were killed have ended and left their cgroup. That takes
// a minute only where a process is stuck in the kernel, as on a dead disk. Such a process is not waited for any longer.
const killTimeout = time.Minute

// killWait waits for something in the kernel that has to be polled, with pauses that grow.
type killWait struct {
	limit  time.Duration
	pause  time.Duration
	waited time.Duration
}

// next pauses; it returns false when the limit is reached.
func (p *killWait) next() bool {
	if p.waited >= p.limit {
		return false
	}
	p.pause = min(max(p.pause*2, 50*time.Microsecond), 10*time.Millisecond)
	time.Sleep(p.pause)
	p.waited += p.pause
	return true
}
