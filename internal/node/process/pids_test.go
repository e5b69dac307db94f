package process_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// onPIDLimits runs a test with a container of the machine's programs, and with those of images. Each may have 20 processes.
func onPIDLimits(t *testing.T, test func(m *machine, container func(script string) runtime.Container)) {
	few := func(c *process.Config) { c.PodMaxPIDs = 20 }
	run := func(m *machine, container func(script string) runtime.Container) {
		if m.Info().ProcessLimit != "at most 20 a container" {
			m.t.Skip("no limit on processes here: " + m.Info().Isolation)
		}
		test(m, container)
	}
	t.Run("process", func(t *testing.T) {
		m := start(t, few)
		run(m, func(script string) runtime.Container { return m.container("sh", "-c", script) })
	})
	for name, shared := range map[string]bool{"image": false, "image with shared process ids": true} {
		t.Run(name, func(t *testing.T) {
			m := imager(t, few)
			tree := imageTree(t)
			run(m, func(script string) runtime.Container {
				c := m.imageContainer(tree, "sh", "-c", script)
				c.Root.SharePIDs = shared
				return c
			})
		})
	}
}

func TestAContainerForksNoMoreThanItMay(t *testing.T) {
	onPIDLimits(t, func(m *machine, container func(string) runtime.Container) {
		c := container("for i in $(seq 40); do sleep 1000 & echo $i; done; echo all")
		s := m.run(c)
		// The shell is one of the 20.
		if printed := m.output(c); s.ExitCode == 0 || !strings.Contains(printed, "\n19\n") || strings.Contains(printed, "\n20\n") {
			m.t.Errorf("the container started these processes: %s and ended with %+v", printed, s)
		}
	})
}

// One container after another uses the same cgroup.
func TestAContainerMayHaveALimitOfItsOwn(t *testing.T) {
	onPIDLimits(t, func(m *machine, container func(string) runtime.Container) {
		for _, most := range []int64{10, 0, 25, -1} {
			c := container("for i in $(seq 40); do sleep 1000 & echo $i; done; exit 7")
			c.MaxPIDs = most
			s := m.run(c)
			last := cmp.Or(most, 20) - 1
			if most < 0 {
				last = 40
			}
			printed := m.output(c)
			if (s.ExitCode == 7) != (most < 0) || !strings.Contains(printed, fmt.Sprintf("\n%d\n", last)) || strings.Contains(printed, fmt.Sprintf("\n%d\n", last+1)) {
				m.t.Errorf("the container with a limit of %d started these processes: %s and ended with %+v", most, printed, s)
			}
		}
	})
}

// What one container has too many of, no other lacks: none that runs, none that starts, and no command.
func TestAContainerAtItsLimitOfProcessesTakesNoneOfOthers(t *testing.T) {
	onPIDLimits(t, func(m *machine, container func(string) runtime.Container) {
		check := m.bystander()
		var full []runtime.Container
		for range 3 {
			c := container("(for i in $(seq 40); do sleep 1000 & done); echo full; exec sleep 1000")
			m.start(c)
			m.untilPrinted(c)
			full = append(full, c)
		}
		for _, locked := range []bool{false, true} {
			c := container("for i in $(seq 15); do sleep 1000 & done; echo all")
			c.NoNewPrivileges = locked
			if s := m.run(c); s.ExitCode != 0 || m.output(c) != "all\n" {
				m.t.Errorf("the next container ended with %+v and printed %q", s, m.output(c))
			}
		}
		check()
		for _, c := range full {
			m.stop(c.ID, 0)
			if s := m.wait(c.ID); s.Signal != 9 {
				m.t.Errorf("the container ended with %+v", s)
			}
		}
	})
}

// The containers together leave half of the machine to others, of which the host process is one.
func TestEveryContainerHasACgroupThatLimitsItsProcesses(t *testing.T) {
	m := start(t, func(c *process.Config) { c.PodMaxPIDs = 20 })
	if m.Info().ProcessLimit == "" {
		t.Skip("no limit on processes here: " + m.Info().Isolation)
	}
	of := "/" + filepath.Base(m.runDir())
	if at := pidsCgroup(t, strconv.Itoa(m.hostPID())); strings.HasSuffix(filepath.Dir(at), of) {
		t.Errorf("the host is in %s", at)
	}
	seen := map[string]bool{}
	for range 3 {
		c := m.container("sh", "-c", "echo $$; exec sleep 1000")
		m.start(c)
		m.untilPrinted(c)
		at := pidsCgroup(t, strings.TrimSpace(m.output(c)))
		if !strings.HasSuffix(filepath.Dir(at), of) || seen[at] {
			t.Errorf("the container is in %s", at)
		}
		seen[at] = true
	}
	machine, err := os.ReadFile("/proc/sys/kernel/pid_max")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range m.pidsCgroups() {
		together, err := os.ReadFile(filepath.Join(dir, "pids.max"))
		if err != nil || number(together) == 0 || number(together) > number(machine)/2 {
			t.Errorf("all containers may have %s processes (%v), of %s", together, err, machine)
		}
	}
}

// pidsCgroup is the cgroup that limits how many processes and threads the process has.
func pidsCgroup(t *testing.T, pid string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("/proc", pid, "cgroup"))
	if err != nil {
		t.Fatal(err)
	}
	unified := ""
	for line := range strings.Lines(string(data)) {
		switch parts := strings.SplitN(strings.TrimSpace(line), ":", 3); parts[1] {
		case "pids":
			return parts[2]
		case "":
			unified = parts[2]
		}
	}
	return unified
}

// pidsCgroups are the directories that hold the containers' cgroups with a limit of processes.
func (m *machine) pidsCgroups() (dirs []string) {
	m.t.Helper()
	for _, dir := range m.cgroups(m.runDir()) {
		if _, err := os.Stat(filepath.Join(dir, "pids.max")); err == nil {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		m.t.Fatal("no cgroup limits processes")
	}
	return dirs
}

// number is 0 if there is none.
func number(text []byte) int {
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n
}

// Many cgroups are made for many containers, and few are kept for later ones, with their threads.
func TestFewCgroupsOfContainersThatHaveEndedAreKept(t *testing.T) {
	m := start(t)
	if m.Info().ProcessLimit == "" {
		t.Skip("no limit on processes here: " + m.Info().Isolation)
	}
	kept := func() (n int) {
		for _, dir := range m.pidsCgroups() {
			of, _ := filepath.Glob(filepath.Join(dir, "*", "pids.max"))
			n += len(of)
		}
		return n
	}
	threads := func() int {
		tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", m.hostPID()))
		return len(tasks)
	}
	const many, few = 150, 100
	var all []runtime.Container
	for range many {
		c := m.container("sleep", "1000")
		m.start(c)
		all = append(all, c)
	}
	if n := kept(); n < many {
		t.Errorf("%d containers have %d cgroups", many, n)
	}
	for _, c := range all {
		m.stop(c.ID, 0)
		m.wait(c.ID)
	}
	await.Until(t, "most cgroups and threads are gone", func() bool { return kept() < few && threads() < few })
	if s := m.run(m.container("true")); s.ExitCode != 0 {
		t.Errorf("the next container ended with %+v", s)
	}
}

func TestWithoutALimitNothingIsBounded(t *testing.T) {
	m := start(t, func(c *process.Config) { c.PodMaxPIDs = -1 })
	if limit := m.Info().ProcessLimit; limit != "" {
		t.Errorf("bounded: %s", limit)
	}
}
