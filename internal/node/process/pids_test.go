package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stint-dev/stint/internal/node/process"
)

// sharedPIDs is the file with the limit for all containers together.
func (m *machine) sharedPIDs() string {
	m.t.Helper()
	for _, dir := range m.cgroups(m.runDir()) {
		file := filepath.Join(dir, "pids.max")
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	m.t.Fatal("no cgroup bounds all containers")
	return ""
}

func TestAContainerForksNoMoreThanItMay(t *testing.T) {
	m := start(t, func(c *process.Config) { c.PodMaxPIDs = 20 })
	limit := m.Info().ProcessLimit
	if limit == "" {
		t.Skip("no limit on processes here: " + m.Info().Isolation)
	}
	if limit != "at most 20 a container" {
		// This limit is for all containers together, and too high to be reached in a test.
		if err := os.WriteFile(m.sharedPIDs(), []byte("20"), 0); err != nil {
			t.Fatal(err)
		}
	}
	c := m.container("sh", "-c", "for i in $(seq 40); do sleep 1000 & done; echo all")
	if s := m.run(c); s.ExitCode == 0 || strings.Contains(m.output(c), "all") {
		t.Errorf("40 processes were started: %+v", s)
	}
	if s := m.run(m.container("true")); s.ExitCode != 0 {
		t.Errorf("the next container has suffered: %+v", s)
	}
}

func TestEveryContainerIsInTheCgroupThatBoundsAll(t *testing.T) {
	m := start(t)
	var most int
	if _, err := fmt.Sscanf(m.Info().ProcessLimit, "at most %d in all", &most); err != nil {
		t.Skip("no such limit here: " + m.Info().ProcessLimit)
	}
	for _, locked := range []bool{false, true} {
		c := m.container("cat", "/proc/self/cgroup")
		c.NoNewPrivileges = locked
		m.run(c)
		if out := m.output(c); !strings.Contains(pidsLine(out), "/"+filepath.Base(m.runDir())) {
			t.Errorf("the container is in %s", out)
		}
	}
	data, err := os.ReadFile(m.sharedPIDs())
	if err != nil || strings.TrimSpace(string(data)) != strconv.Itoa(most) {
		t.Errorf("the limit is %q (%v), not %d", data, err, most)
	}
}

// pidsLine is the line of the pids controller in a /proc/PID/cgroup.
func pidsLine(cgroup string) string {
	for line := range strings.Lines(cgroup) {
		if strings.Contains(line, ":pids:") {
			return line
		}
	}
	return ""
}

func TestWithoutALimitNothingIsBounded(t *testing.T) {
	m := start(t, func(c *process.Config) { c.PodMaxPIDs = -1 })
	if limit := m.Info().ProcessLimit; limit != "" {
		t.Errorf("bounded: %s", limit)
	}
}
