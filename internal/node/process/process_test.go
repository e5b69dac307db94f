package process_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/process/rundir"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

func TestMain(m *testing.M) {
	if handled, code := process.HostMain(os.Args); handled {
		os.Exit(code)
	}
	if run := os.Getenv(hangUpVariable); run != "" {
		if err := hangUp(run); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// machine is a runtime with a host of its own, and the events that it has received.
type machine struct {
	*process.Runtime
	t     testing.TB
	dir   string
	ended map[runtime.ID]runtime.Status
	made  int
}

func start(t testing.TB, change ...func(*process.Config)) *machine {
	t.Helper()
	return startIn(t, t.TempDir(), change...)
}

// configOf makes the host end soon after the test, and waits for its start as long as tests wait.
func configOf(dir string) process.Config {
	return process.Config{Dir: dir, StartTimeout: await.Limit, IdleExit: 100 * time.Millisecond}
}

func startIn(t testing.TB, dir string, change ...func(*process.Config)) *machine {
	t.Helper()
	config := configOf(filepath.Join(dir, "data"))
	for _, c := range change {
		c(&config)
	}
	r, err := process.Start(await.Context(t), config)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{Runtime: r, t: t, dir: dir, ended: map[runtime.ID]runtime.Status{}}
	t.Cleanup(m.leave)
	return m
}

// levelChanges start hosts with all that this machine can do, and with less.
var levelChanges = map[string]func(*process.Config){
	"with all there is":  func(*process.Config) {},
	"without cgroups":    func(c *process.Config) { c.NoCgroups = true },
	"without namespaces": func(c *process.Config) { c.NoNamespaces = true },
	"without both":       func(c *process.Config) { c.NoCgroups, c.NoNamespaces = true, true },
}

func onEveryLevel(t *testing.T, test func(t *testing.T, m *machine)) {
	for name, change := range levelChanges {
		t.Run(name, func(t *testing.T) { test(t, start(t, change)) })
	}
}

// leave ends all containers, and fails the test if the host leaves files or cgroups behind.
func (m *machine) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), await.Limit)
	defer cancel()
	all, err := m.List(ctx)
	if err != nil {
		return // the test has closed the connection and is responsible for the host
	}
	var ids []runtime.ID
	for _, s := range all {
		if err := m.RemovePod(ctx, s.PodUID, ""); err != nil {
			m.t.Error(err)
		}
		ids = append(ids, s.ID)
	}
	if err := m.Forget(ctx, ids...); err != nil {
		m.t.Error(err)
	}
	run := m.runDir()
	m.Close()
	await.Until(m.t, "the host leaves nothing behind", func() bool {
		_, err := os.Stat(run)
		return os.IsNotExist(err) && len(m.cgroups(run)) == 0
	})
}

// runDir is where the host has its socket.
func (m *machine) runDir() string {
	m.t.Helper()
	return runDirOf(m.t, filepath.Join(m.dir, "data"))
}

func runDirOf(t testing.TB, dataDir string) string {
	t.Helper()
	dir, err := rundir.Find(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// cgroups lists the cgroups of the host that has or had the run directory.
func (m *machine) cgroups(run string) []string {
	var found []string
	for _, pattern := range []string{"/sys/fs/cgroup/", "/sys/fs/cgroup/*/", "/sys/fs/cgroup/*/*/", "/sys/fs/cgroup/*/*/*/"} {
		dirs, err := filepath.Glob(pattern + filepath.Base(run))
		if err != nil {
			m.t.Fatal(err)
		}
		found = append(found, dirs...)
	}
	return found
}

// container returns a container that is not started yet.
func (m *machine) container(command ...string) runtime.Container {
	m.made++
	uid := types.UID(fmt.Sprintf("pod-%d", m.made))
	return runtime.Container{
		ID:           runtime.ID{PodUID: uid, Container: "main"},
		PodNamespace: "default", PodName: string(uid),
		Command: command,
		LogPath: filepath.Join(m.dir, "logs", string(uid), "0.log"),
	}
}

func (m *machine) start(c runtime.Container) runtime.Status {
	m.t.Helper()
	s, err := m.Start(await.Context(m.t), c)
	if err != nil {
		m.t.Fatal(err)
	}
	return s
}

// wait waits for the end of the container and returns its status.
func (m *machine) wait(id runtime.ID) runtime.Status {
	m.t.Helper()
	for {
		if s, ok := m.ended[id]; ok {
			return s
		}
		s := await.Value(m.t, fmt.Sprintf("the end of container %v", id), m.Events())
		if s.State == runtime.Exited {
			m.ended[s.ID] = s
		}
	}
}

// run starts a container and returns how it ended.
func (m *machine) run(c runtime.Container) runtime.Status {
	m.t.Helper()
	if s := m.start(c); s.State == runtime.Exited {
		return s
	}
	return m.wait(c.ID)
}
