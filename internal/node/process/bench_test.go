package process_test

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// BenchmarkRuntime starts no-op containers and counts them when their exit events arrive.
func BenchmarkRuntime(b *testing.B) {
	for name, c := range map[string]struct {
		change   func(*process.Config)
		script   []string
		hostname string
		volume   bool
	}{
		"silent":      {script: []string{"true"}},
		"with a name": {script: []string{"true"}, hostname: "worker"},
		"with a line": {script: []string{"echo", "hello"}},
		"with volume": {script: []string{"true"}, volume: true},
		"no cgroups":  {script: []string{"true"}, change: func(c *process.Config) { c.NoCgroups = true }},
	} {
		b.Run(name, func(b *testing.B) {
			changes := []func(*process.Config){}
			if c.change != nil {
				changes = append(changes, c.change)
			}
			m := start(b, changes...)
			volume := b.TempDir()
			before := cpuOfAll(b)
			b.ResetTimer()
			m.inParallel(b.N, func() runtime.Container {
				one := m.container(c.script...)
				one.TerminationMessagePath = "/dev/termination-log"
				one.Hostname = c.hostname
				if c.volume {
					one.Mounts = []runtime.Mount{{HostPath: volume, ContainerPath: "/mnt"}}
				}
				return one
			})
			report(b, before)
		})
	}
}

// BenchmarkExec is the same without a runtime.
func BenchmarkExec(b *testing.B) {
	before := cpuOfAll(b)
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
	report(b, before)
}

// inParallel keeps 64 containers going until n have ended.
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

func report(b *testing.B, before time.Duration) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "containers/s")
	b.ReportMetric(float64((cpuOfAll(b)-before).Microseconds())/float64(b.N), "cpu-us/container")
}

// cpuOfAll is the time that all CPUs of this machine have spent working: a host's children are not this process's.
func cpuOfAll(b *testing.B) time.Duration {
	b.Helper()
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		b.Fatal(err)
	}
	var user, nice, system int64
	if _, err := fmt.Sscanf(string(data), "cpu %d %d %d", &user, &nice, &system); err != nil {
		b.Fatal(err)
	}
	const tick = 10 * time.Millisecond
	return time.Duration(user+nice+system) * tick
}
