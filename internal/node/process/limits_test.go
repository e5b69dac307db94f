package process_test

import (
	"os/exec"
	"strings"
	"testing"
)

// hungry fills memory until it is stopped.
const hungry = `x=x; while :; do x="$x$x"; done`

func TestMemoryLimit(t *testing.T) {
	m := start(t)
	if !m.Info().EnforcesMemory {
		t.Skip("no memory limits here: " + m.Info().Isolation)
	}
	c := m.container("sh", "-c", hungry)
	c.MemoryLimitBytes = 32 << 20
	if s := m.run(c); !s.OOMKilled || s.ExitCode != 137 {
		t.Errorf("ended as %+v", s)
	}
	for name, script := range map[string]string{
		"a container within its limit is not marked": "exit 1",
		"nor one that is killed":                     "kill -KILL $$",
	} {
		c := m.container("sh", "-c", script)
		c.MemoryLimitBytes = 32 << 20
		if s := m.run(c); s.OOMKilled {
			t.Errorf("%s: ended as %+v", name, s)
		}
	}
	if s := m.run(m.container("true")); s.ExitCode != 0 {
		t.Errorf("the host has suffered: %+v", s)
	}
}

func TestCPULimit(t *testing.T) {
	m := start(t)
	if !m.Info().EnforcesCPU {
		t.Skip("no CPU limits here: " + m.Info().Isolation)
	}
	if _, err := exec.LookPath("timeout"); err != nil {
		t.Skip(err)
	}
	c := m.container("sh", "-c", "timeout 1 sh -c 'while :; do :; done'; times")
	c.CPUMilliLimit = 100
	m.run(c)
	lines := strings.Split(m.output(c), "\n")
	if len(lines) < 2 || !strings.HasPrefix(lines[1], "0m0.") || strings.HasPrefix(lines[1], "0m0.9") {
		t.Errorf("a tenth of a CPU for a second used %q", lines)
	}
}
