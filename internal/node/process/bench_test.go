package process_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// BenchmarkRuntime starts containers that end at once, and counts them when their events arrive.
func BenchmarkRuntime(b *testing.B) {
	for name, c := range map[string]struct {
		change   func(*process.Config)
		script   []string
		hostname string
		volume   bool
		limits   bool
	}{
		"silent":      {script: []string{"true"}},
		"with a name": {script: []string{"true"}, hostname: "worker"},
		"with a line": {script: []string{"echo", "hello"}},
		"with volume": {script: []string{"true"}, volume: true},
		"with limits": {script: []string{"true"}, limits: true},
		"no cgroups":  {script: []string{"true"}, change: func(c *process.Config) { c.NoCgroups = true }},
	} {
		b.Run(name, func(b *testing.B) {
			changes := []func(*process.Config){}
			if c.change != nil {
				changes = append(changes, c.change)
			}
			m := start(b, changes...)
			volume := b.TempDir()
			before := m.spent(b)
			b.ResetTimer()
			m.inParallel(b.N, func() runtime.Container {
				one := m.container(c.script...)
				one.TerminationMessagePath = "/dev/termination-log"
				one.Hostname = c.hostname
				if c.limits {
					one.MemoryLimitBytes, one.CPUMilliLimit = 1<<30, 2000
				}
				if c.volume {
					one.Mounts = []runtime.Mount{{HostPath: volume, ContainerPath: "/mnt"}}
				}
				return one
			})
			report(b, before, m.spent(b))
		})
	}
}

// BenchmarkImages is BenchmarkRuntime with containers from an image.
func BenchmarkImages(b *testing.B) {
	tree := imageTree(b)
	volume := b.TempDir()
	for name, change := range map[string]func(*runtime.Container){
		"silent":      func(*runtime.Container) {},
		"with limits": func(c *runtime.Container) { c.MemoryLimitBytes, c.CPUMilliLimit = 1<<30, 2000 },
		"with volume": func(c *runtime.Container) {
			c.Mounts = []runtime.Mount{{HostPath: volume, ContainerPath: "/mnt"}}
		},
		"with a file": func(c *runtime.Container) { c.Command = []string{"touch", "/tmp/file"} },
	} {
		b.Run(name, func(b *testing.B) {
			m := imager(b)
			before := m.spent(b)
			b.ResetTimer()
			m.inParallel(b.N, func() runtime.Container {
				c := m.imageContainer(tree, "true")
				change(&c)
				return c
			})
			report(b, before, m.spent(b))
		})
	}
}

// BenchmarkExec starts the same program without a runtime.
func BenchmarkExec(b *testing.B) {
	before := spentHere(b)
	var left atomic.Int64
	left.Store(int64(b.N))
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for left.Add(-1) >= 0 {
				_ = exec.Command("/bin/true").Run()
			}
		})
	}
	workers.Wait()
	report(b, before, spentHere(b))
}

// BenchmarkCommands runs commands in a container, one after another, as probes do.
func BenchmarkCommands(b *testing.B) {
	run := func(b *testing.B, m *machine, c runtime.Container) {
		m.needExec()
		c.Command = []string{"sleep", "1000"}
		m.start(c)
		for b.Loop() {
			if _, err := m.Exec(b.Context(), c.ID, runtime.Command{Args: []string{"/bin/true"}}, runtime.Streams{}); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("process", func(b *testing.B) {
		m := start(b)
		run(b, m, m.container())
	})
	b.Run("image", func(b *testing.B) {
		m := imager(b)
		run(b, m, m.imageContainer(imageTree(b)))
	})
}

// inParallel runs n containers, up to 64 at a time.
func (m *machine) inParallel(n int, next func() runtime.Container) {
	room := make(chan struct{}, 64)
	go func() {
		for range n {
			room <- struct{}{}
			c := next()
			go m.start(c)
		}
	}()
	for range n {
		<-m.Events()
		<-room
	}
}

// spent is the CPU time of this process, of the host, and of the children that both have reaped.
type spent struct{ self, host, children time.Duration }

func (m *machine) spent(b *testing.B) spent {
	b.Helper()
	s := spentHere(b)
	var ticks [4]int64
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.hostPID()))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	for i := range ticks {
		if ticks[i], err = strconv.ParseInt(fields[11+i], 10, 64); err != nil {
			b.Fatal(err)
		}
	}
	const tick = 10 * time.Millisecond
	s.host = time.Duration(ticks[0]+ticks[1]) * tick
	s.children += time.Duration(ticks[2]+ticks[3]) * tick
	return s
}

func spentHere(b *testing.B) spent {
	b.Helper()
	of := func(who int) time.Duration {
		var use syscall.Rusage
		if err := syscall.Getrusage(who, &use); err != nil {
			b.Fatal(err)
		}
		return time.Duration(use.Utime.Nano() + use.Stime.Nano())
	}
	return spent{self: of(syscall.RUSAGE_SELF), children: of(syscall.RUSAGE_CHILDREN)}
}

func report(b *testing.B, before, after spent) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "containers/s")
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N) }
	b.ReportMetric(each(after.self-before.self), "client-us")
	b.ReportMetric(each(after.host-before.host), "host-us")
	b.ReportMetric(each(after.children-before.children), "child-us")
}
