package process_test

import (
	"context"
	"testing"
	"time"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

func (m *machine) usage(ids ...runtime.ID) []runtime.ResourceUsage {
	m.t.Helper()
	usage, err := m.ResourceUsage(await.Context(m.t), ids)
	if err != nil || len(usage) != len(ids) {
		m.t.Fatalf("%v: %+v", err, usage)
	}
	return usage
}

// named returns the container as another one of its pod.
func named(c runtime.Container, name string, command ...string) runtime.Container {
	c.Container, c.LogPath, c.Command = name, c.LogPath+"."+name, command
	if c.TerminationMessageFile != "" {
		c.TerminationMessageFile += "." + name
	}
	return c
}

// untilBusy waits until the CPU time of a container has grown much, and returns what it and another one have used meanwhile.
func (m *machine) untilBusy(busy, other runtime.ID) (used, usedByOther time.Duration) {
	m.t.Helper()
	before := m.usage(busy, other)
	await.Until(m.t, "the container has used CPU time", func() bool {
		after := m.usage(busy, other)
		used, usedByOther = after[0].CPU-before[0].CPU, after[1].CPU-before[1].CPU
		return used >= 100*time.Millisecond
	})
	return used, usedByOther
}

func TestCPUTimeOfContainers(t *testing.T) {
	const spin = "while :; do :; done"
	onContainers(t, func(t *testing.T, m *machine, c runtime.Container) {
		idle := named(c, "idle", "sleep", "1000")
		m.start(idle)
		for name, command := range map[string][]string{
			"main":   {"sh", "-c", spin},
			"child":  {"sh", "-c", "(" + spin + ") & wait"},
			"orphan": {"sh", "-c", "sh -c '(" + spin + ") &'; sleep 1000"},
		} {
			busy := named(c, name, command...)
			m.start(busy)
			if used, other := m.untilBusy(busy.ID, idle.ID); other >= used/2 {
				t.Errorf("%s has used %v, one that sleeps %v", name, used, other)
			}
			if err := m.Stop(await.Context(t), busy.ID, 0); err != nil {
				t.Fatal(err)
			}
			m.wait(busy.ID)
			if got := m.usage(busy.ID)[0]; got != (runtime.ResourceUsage{}) {
				t.Errorf("%s has ended and uses %+v", name, got)
			}
		}
	})
}

func TestCommandsInAContainerCountForIt(t *testing.T) {
	onContainers(t, func(t *testing.T, m *machine, c runtime.Container) {
		first, second := named(c, "first", "sleep", "1000"), named(c, "second", "sleep", "1000")
		m.start(first)
		m.start(second)
		ctx, cancel := context.WithCancel(await.Context(t))
		done := make(chan error, 1)
		go func() {
			_, err := m.Exec(ctx, first.ID, runtime.Command{Args: []string{"sh", "-c", "while :; do :; done"}}, runtime.Streams{})
			done <- err
		}()
		if used, other := m.untilBusy(first.ID, second.ID); other >= used/2 {
			t.Errorf("the container has used %v, another one %v", used, other)
		}
		cancel()
		await.Value(t, "the end of the command", done)
	})
}

func TestMemoryOfContainers(t *testing.T) {
	onContainers(t, func(t *testing.T, m *machine, c runtime.Container) {
		const size = 20 * mib
		small := named(c, "small", "sh", "-c", "echo ready; sleep 1000")
		large := named(c, "large", "sh", "-c", "x=$(dd if=/dev/zero bs=1M count=20 2>/dev/null | tr '\\0' x); echo ready; sleep 1000; echo $x")
		limited := named(large, "limited", large.Command...)
		limited.MemoryLimitBytes = 20 * size
		for _, c := range []runtime.Container{small, large, limited} {
			m.start(c)
			m.untilPrinted(c)
		}
		usage := m.usage(small.ID, large.ID, limited.ID)
		if usage[0].Memory <= 0 || usage[0].Memory >= size || usage[1].Memory < size || usage[2].Memory < size {
			t.Errorf("%+v", usage)
		}
	})
}

func TestNothingIsUsedByWhatIsNotThere(t *testing.T) {
	m := start(t)
	if got := m.usage(m.container().ID)[0]; got != (runtime.ResourceUsage{}) {
		t.Errorf("%+v", got)
	}
	if got := m.usage(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
