package process_test

import (
	"fmt"
	"os/exec"
	"testing"
)

// allocating is a script that allocates memory until it is killed.
const allocating = `x=x; while :; do x="$x$x"; done`

func TestMemoryLimit(t *testing.T) {
	m := start(t)
	if !m.Info().EnforcesMemory {
		t.Skip("no memory limits here: " + m.Info().Isolation)
	}
	c := m.container("sh", "-c", allocating)
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
	c := m.container("sh", "-c", "read from _ < /proc/uptime; timeout 1 sh -c 'while :; do :; done'; read to _ < /proc/uptime; echo $from $to; times")
	c.CPUMilliLimit = 100
	m.run(c)
	var from, to, user, system float64
	var shell string
	output := m.output(c)
	if _, err := fmt.Sscanf(output, "%f %f\n%s %s\n0m%fs 0m%fs", &from, &to, &shell, &shell, &user, &system); err != nil {
		t.Fatalf("%v: %q", err, output)
	}
	// On a slow machine it has used less.
	if used := (user + system) / (to - from); used > 0.5 {
		t.Errorf("limited to a tenth of a CPU it used %.2f", used)
	}
}
