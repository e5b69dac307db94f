package process_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
	machines "github.com/stint-dev/stint/test/machine"
)

// What shares the memory of the host process ends together with it at the limit of a cgroup, and shows it to a container that may
// trace it. These tests have a bystander, a container that must not notice what becomes of the others.

func (m *machine) bystander() (check func()) {
	m.t.Helper()
	id := m.sleeper(m.container())
	return func() {
		m.t.Helper()
		if code, _, fault := m.exec(id, "", "true"); code != 0 {
			m.t.Errorf("a command in the other container ends with %d %s", code, fault)
		}
		if s := m.end(id); s.ExitCode != 0 {
			m.t.Errorf("the other container ended with %+v", s)
		}
	}
}

// needMemoryLimits skips the test where no container's memory is limited.
func (m *machine) needMemoryLimits() {
	if !m.Info().EnforcesMemory {
		m.t.Skip("no memory limits here: " + m.Info().Isolation)
	}
}

// onMemoryLimits runs a test with a container of the machine's programs, and with those of images.
func onMemoryLimits(t *testing.T, test func(t *testing.T, m *machine, c func(command ...string) runtime.Container)) {
	t.Run("process", func(t *testing.T) {
		m := start(t)
		m.needMemoryLimits()
		m.needExec()
		test(t, m, m.container)
	})
	for name, shared := range map[string]bool{"image": false, "image with shared process ids": true} {
		t.Run(name, func(t *testing.T) {
			m := imager(t)
			m.needMemoryLimits()
			tree := imageTree(t)
			test(t, m, func(command ...string) runtime.Container {
				c := m.imageContainer(tree, command...)
				c.Root.SharePIDs = shared
				return c
			})
		})
	}
}

func TestAMemoryLimitThatIsTooSmallEndsOneContainer(t *testing.T) {
	onMemoryLimits(t, func(t *testing.T, m *machine, container func(...string) runtime.Container) {
		check := m.bystander()
		for _, limit := range []int64{1, 512, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 48 << 10, 64 << 10, 96 << 10, 128 << 10, 192 << 10, 256 << 10,
			512 << 10, 1 << 20, 4 << 20, 16<<20 - 1, 16 << 20} {
			c := container("true")
			c.MemoryLimitBytes = limit
			s := m.run(c)
			named := strings.HasSuffix(s.StartError, fmt.Sprintf("its memory limit is %s", resource.NewQuantity(limit, resource.BinarySI)))
			switch {
			case s.OOMKilled && s.ExitCode == 137, named:
				if limit >= 4<<20 {
					t.Errorf("a limit of %d bytes is too small: %+v", limit, s)
				}
			case s.ExitCode != 0 || s.StartError != "":
				t.Errorf("a limit of %d bytes: %+v", limit, s)
			case limit < 64<<10:
				t.Errorf("a program ran in %d bytes", limit)
			}
		}
		check()
	})
}

// A command is started in a container that may not use any more memory than it does.
func TestACommandInAContainerAtItsMemoryLimit(t *testing.T) {
	onMemoryLimits(t, func(t *testing.T, m *machine, container func(...string) runtime.Container) {
		check := m.bystander()
		for range 3 {
			c := container()
			c.MemoryLimitBytes = 32 << 20
			id := m.sleeper(c)
			m.limitToUsage()
			// Whether the command or the container ends is the kernel's choice.
			_, _ = m.Exec(await.Context(t), id, runtime.Command{Args: []string{"true"}}, runtime.Streams{})
			if s := m.end(id); s.Lost {
				t.Errorf("the container ended with %+v", s)
			}
		}
		check()
	})
}

// limitToUsage gives the cgroups that have a memory limit one that is as high as what is used already.
func (m *machine) limitToUsage() {
	m.t.Helper()
	found := false
	for _, dir := range m.cgroups(m.runDir()) {
		for limit, usage := range map[string]string{"memory.max": "memory.current", "memory.limit_in_bytes": "memory.usage_in_bytes"} {
			files, _ := filepath.Glob(filepath.Join(dir, "*", limit))
			for _, file := range files {
				if value, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(value)) != fmt.Sprint(32<<20) {
					continue
				}
				found = true
				used, err := os.ReadFile(filepath.Join(filepath.Dir(file), usage))
				if err == nil {
					// Version 1 refuses it if more is used by now.
					_ = os.WriteFile(file, used, 0)
				}
				if err != nil {
					m.t.Fatal(err)
				}
			}
		}
	}
	if !found {
		m.t.Fatal("no cgroup has the limit of the container")
	}
}

// Probes go on while a container allocates up to its limit, and is killed with all that is in its cgroup.
func TestCommandsInAContainerThatRunsOutOfMemory(t *testing.T) {
	onMemoryLimits(t, func(t *testing.T, m *machine, container func(...string) runtime.Container) {
		check := m.bystander()
		for range 2 {
			c := container("sh", "-c", allocating)
			c.MemoryLimitBytes = 24 << 20
			m.start(c)
			for {
				var fault *runtime.CommandError
				_, err := m.Exec(await.Context(t), c.ID, runtime.Command{Args: []string{"true"}}, runtime.Streams{})
				if err != nil && !errors.As(err, &fault) {
					break // it does not run any more
				}
			}
			if s := m.wait(c.ID); !s.OOMKilled || s.Lost {
				t.Errorf("the container ended with %+v", s)
			}
		}
		check()
	})
}

func TestCommandsInAContainerWithTooManyProcesses(t *testing.T) {
	for _, most := range []int64{1, 2, 3, 5} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			m := start(t, func(c *process.Config) { c.PodMaxPIDs = most })
			if m.Info().ProcessLimit != fmt.Sprintf("at most %d a container", most) {
				t.Skip("no limit on the processes of a container here: " + m.Info().ProcessLimit)
			}
			c := m.container("sleep", "1000")
			m.start(c)
			for range 20 {
				_, err := m.Exec(await.Context(t), c.ID, runtime.Command{Args: []string{"true"}}, runtime.Streams{})
				if full := most == 1; full != (err != nil) {
					t.Fatalf("a command ended with %v", err)
				}
			}
			if err := m.Stop(await.Context(t), c.ID, 0); err != nil {
				t.Fatal(err)
			}
			if s := m.wait(c.ID); s.Lost || s.Signal != 9 {
				t.Errorf("the container ended with %+v", s)
			}
		})
	}
}

// A container that may trace its processes sees commands that join it, and must see nothing of the host process in them.
func TestACommandShowsNothingOfTheHost(t *testing.T) {
	t.Setenv("OF_THE_HOST", "secret-of-the-host")
	m := imager(t)
	m.needExec()
	tree := imageTree(t)
	const sysPtrace = 1 << 19
	for name, shared := range map[string]bool{"its own process ids": false, "shared process ids": true} {
		t.Run(name, func(t *testing.T) {
			m.t = t
			c := m.imageContainer(tree, "sh", "-c", `echo ready
				while :; do
					for p in /proc/[0-9]*; do
						if read -r x < $p/environ; then :; fi
						case $x in *secret-of*) echo $p; exit 1;; esac
					done
				done 2>/dev/null`)
			c.Root.SharePIDs = shared
			c.Root.Capabilities |= sysPtrace
			// Each folder is one more system call before the program runs.
			c.Env = []string{"PATH=" + manyFolders(10_000) + "/bin:/usr/bin"}
			m.start(c)
			await.Until(t, "the container runs", func() bool { return m.outputIfAny(c) != "" })
			for range 50 {
				if code, _, fault := m.exec(c.ID, "", "true"); code != 0 {
					t.Fatalf("a command ended with %d %s; the container has printed %q", code, fault, m.outputIfAny(c))
				}
			}
			if err := m.Stop(await.Context(t), c.ID, 0); err != nil {
				t.Fatal(err)
			}
			if s := m.wait(c.ID); s.Signal != 9 || m.output(c) != "ready\n" {
				t.Errorf("it ended with %+v, and has printed %q", s, m.output(c))
			}
		})
	}
}

// The tests of limits run on the version of cgroups that this machine does not have, too.
func TestLimitsWithTheOtherVersionOfCgroups(t *testing.T) {
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("takes a virtual machine, which is the same for all users: root tries it")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if needsLoader(t, program) {
		t.Skip("the virtual machine has no loader for this program")
	}
	here, err := os.Stat("/sys/fs/cgroup/cgroup.controllers")
	o := machines.Options{Cgroups: 2, Memory: 1536, Files: map[string]string{"/bin/process.test": program}}
	if err == nil && here.Mode().IsRegular() {
		o.Cgroups = 1
	}
	tests := []string{"TestMemoryLimit", "TestAMemoryLimitThatIsTooSmallEndsOneContainer", "TestACommandInAContainerAtItsMemoryLimit",
		"TestCommandsInAContainerThatRunsOutOfMemory"}
	if o.Cgroups == 2 {
		tests = append(tests, "TestCommandsInAContainerWithTooManyProcesses")
	}
	output := machines.Run(t, o, "process.test", "-test.v", "-test.run", "^("+strings.Join(tests, "|")+")$")
	t.Log(output)
	if passed := strings.Count("\n"+output, "\n--- PASS: Test"); passed != len(tests) || strings.Contains(output, "--- SKIP") {
		t.Errorf("%d of %d tests passed, or some were skipped", passed, len(tests))
	}
}

// manyFolders is the beginning of a PATH.
func manyFolders(n int) string {
	var path strings.Builder
	for i := range n {
		fmt.Fprintf(&path, "/%d:", i)
	}
	return path.String()
}

// Before Linux 5.16 a core dump ended all processes that shared the memory.
func TestACommandThatDumpsItsMemoryEndsAlone(t *testing.T) {
	m := imager(t)
	m.needExec()
	check := m.bystander()
	c := m.imageContainer(imageTree(t), "sh", "-c", `echo ready; ulimit -c unlimited; while :; do for p in /proc/[0-9]*; do
		p=${p#/proc/}; [ $p = 1 ] || kill -ABRT $p; done; done 2>/dev/null`)
	c.Env = []string{"PATH=" + manyFolders(1000) + "/bin:/usr/bin"}
	m.start(c)
	await.Until(t, "the container runs", func() bool { return m.outputIfAny(c) != "" })
	for range 50 {
		m.exec(c.ID, "", "true")
	}
	if err := m.Stop(await.Context(t), c.ID, 0); err != nil {
		t.Fatal(err)
	}
	if s := m.wait(c.ID); s.Lost || s.Signal != 9 {
		t.Errorf("the container ended with %+v", s)
	}
	check()
}

// forbidding is set in the environment of a test that runs where programs in memory are forbidden.
const forbidding = "STINT_TEST_MEMFD_NOEXEC"

func TestWhereProgramsInMemoryAreForbidden(t *testing.T) {
	if os.Getenv(forbidding) == "" {
		testInForbiddingNamespace(t)
		return
	}
	m := start(t)
	c := m.container()
	id := m.sleeper(c)
	_, err := m.Exec(await.Context(t), id, runtime.Command{Args: []string{"true"}}, runtime.Streams{})
	if err == nil || !strings.Contains(err.Error(), "vm.memfd_noexec is 2") {
		t.Errorf("a command ends with %v", err)
	}
	m.end(id)
	limited := m.container("sh", "-c", allocating)
	limited.MemoryLimitBytes = 32 << 20
	if s := m.run(limited); m.Info().EnforcesMemory && !s.OOMKilled {
		t.Errorf("a limit does not hold: %+v", s)
	}
	if !m.Info().CanRunImages {
		return
	}
	tree := imageTree(t)
	image := m.imageContainer(tree, "sh", "-c", allocating)
	image.MemoryLimitBytes = 32 << 20
	if s := m.run(image); m.Info().EnforcesMemory && !s.OOMKilled {
		t.Errorf("a limit of an image does not hold: %+v", s)
	}
	sharing := m.imageContainer(tree, "true")
	sharing.Root.SharePIDs = true
	if s := m.run(sharing); !strings.Contains(s.StartError, "vm.memfd_noexec is 2") {
		t.Errorf("a container with shared process ids: %+v", s)
	}
}

// testInForbiddingNamespace runs this test again in a pid namespace of its own, to which the sysctl belongs.
func testInForbiddingNamespace(t *testing.T) {
	const sysctl = "/proc/sys/vm/memfd_noexec"
	if os.Geteuid() != 0 {
		t.Skip("takes root")
	}
	if _, err := os.Stat(sysctl); err != nil {
		t.Skip("takes Linux 6.3")
	}
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip(err)
	}
	script := "echo 2 > " + sysctl + ` && exec "$0" -test.v -test.run "^TestWhereProgramsInMemoryAreForbidden$"`
	cmd := exec.Command("unshare", "--fork", "--pid", "--mount-proc", "--kill-child", "sh", "-c", script, os.Args[0])
	cmd.Env = append(os.Environ(), forbidding+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}
