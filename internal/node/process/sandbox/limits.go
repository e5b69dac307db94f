package sandbox

import (
	"cmp"
	"errors"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/stint-dev/stint/internal/node/process/stage"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// cpuPeriod is the period in microseconds of a CPU limit.
const cpuPeriod = 100_000

// limits are what a container may use; zero is without limit.
type limits struct {
	memory          int64
	cpu, cpuRequest int64 // thousandths of a CPU
	// pids are processes and threads; less than zero is without limit, too.
	pids int64
}

func (b *Sandbox) limitsOf(c *runtime.Container) limits {
	return limits{memory: c.MemoryLimitBytes, cpu: c.CPUMilliLimit, cpuRequest: c.CPUMilliRequest, pids: cmp.Or(c.MaxPIDs, b.config.MaxPIDs)}
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

// limitMemory limits the memory of the container's cgroup. No process that shares the memory of this process may reach the limit:
// the OOM killer would end this process, and all containers with it.
func (l *launch) limitMemory() error {
	if l.slot.leaf != nil {
		if err := l.slot.leaf.limitMemory(l.sandbox.unified, l.limits); err != nil {
			return err
		}
	}
	if l.legacy != nil {
		return l.legacy.limitMemory(l.limits)
	}
	return nil
}

// startMemory is far more than what a child takes until it has executed its program, besides the arguments of that.
const startMemory = 16 << 20

// isTight reports whether a child may reach the memory limit before it has executed its program.
func (l *launch) isTight() bool {
	need := int64(startMemory)
	for _, list := range [][]string{l.container.Command, l.env} {
		for _, s := range list {
			need += int64(len(s))
		}
	}
	return l.limits.memory > 0 && l.limits.memory < need && l.sandbox.info.EnforcesMemory
}

// lacksMemory reports whether err may be due to the container's memory limit.
func (l *launch) lacksMemory(err error) bool { return errors.Is(err, unix.ENOMEM) && l.isTight() }

func (l *launch) tooTight(err error) error {
	return startErrorf("%v: its memory limit is %s", err, resource.NewQuantity(l.limits.memory, resource.BinarySI))
}

// newProgram makes an empty list for the container's first process.
func (l *launch) newProgram() *stage.Program {
	if l.pids == 0 && !l.isTight() {
		return &stage.Program{}
	}
	p := stage.NewApart()
	if l.pids > 0 {
		p.EnterPIDs(l.pids)
	}
	return p
}

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
