package process_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stint-dev/stint/internal/node/process/wire"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

func TestStartErrorsNameTheFaultAndAreNoFailuresOfTheRuntime(t *testing.T) {
	m := start(t)
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		command []string
		dir     string
		want    string
	}{
		"a program that is nowhere in PATH":     {[]string{"no-such-program"}, "", "no such program in PATH"},
		"a relative path":                       {[]string{"./no-such"}, "/usr", "there is no /usr/no-such on this machine; the container starts in /usr"},
		"a path that does not exist":            {[]string{"/no/such/program"}, "", "no such file"},
		"a file that is not executable":         {[]string{plain}, "", "not executable"},
		"a directory":                           {[]string{"/tmp"}, "", "is a directory"},
		"an interpreter that does not exist":    {[]string{broken}, "", "interpreter"},
		"a working directory that is not there": {[]string{"true"}, "/no/such/dir", "working directory /no/such/dir does not exist"},
		"a working directory that is a file":    {[]string{"true"}, plain, "is not a directory"},
		"no command":                            {nil, "", "no command"},
	} {
		t.Run(name, func(t *testing.T) {
			c := m.container(test.command...)
			c.WorkingDir = test.dir
			s := m.start(c)
			if s.State != runtime.Exited || s.ExitCode != 128 || !strings.Contains(s.StartError, test.want) {
				t.Errorf("status %+v, want a start error with %q", s, test.want)
			}
			if again := m.start(c); again.StartError != s.StartError {
				t.Errorf("started again: %+v", again)
			}
		})
	}
}

func TestTheSameAttemptRunsOnce(t *testing.T) {
	onEveryLevel(t, func(t *testing.T, m *machine) {
		count := filepath.Join(t.TempDir(), "count")
		c := m.container("sh", "-c", "echo x >> "+count+"; sleep 0.05")
		var starts sync.WaitGroup
		for range 20 {
			starts.Go(func() { m.start(c) })
		}
		starts.Wait()
		m.wait(c.ID)
		if s := m.start(c); s.State != runtime.Exited {
			t.Errorf("started again after its end: %+v", s)
		}
		if data, err := os.ReadFile(count); err != nil || string(data) != "x\n" {
			t.Errorf("ran %q times (%v)", data, err)
		}
	})
}

func TestManyAtOnceAndNoFilesLeftOpen(t *testing.T) {
	m := start(t)
	host := m.hostPID()
	round := func(n int) {
		var containers []runtime.Container
		for i := range n {
			containers = append(containers, m.container("sh", "-c", fmt.Sprintf("echo %d; exit %d", i, i%100)))
		}
		var starts sync.WaitGroup
		for _, c := range containers {
			starts.Go(func() { m.start(c) })
		}
		starts.Wait()
		for i, c := range containers {
			if s := m.wait(c.ID); s.ExitCode != int32(i%100) {
				t.Errorf("container %d ended as %+v", i, s)
			}
		}
	}
	// Idle slots keep some files open, at most this many.
	const kept = 64*4 + 100
	for range 2 {
		round(500)
		await.Until(t, "idle slots alone have files", func() bool { return openFiles(t, host) < kept })
	}
}

func openFiles(t *testing.T, pid int) int {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// hostPID asks the kernel which process has the socket. A search in /proc might find a child of the host that has not
// executed its program yet.
func (m *machine) hostPID() int {
	m.t.Helper()
	socket, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: filepath.Join(m.runDir(), "host.sock"), Net: "unix"})
	if err != nil {
		m.t.Fatal(err)
	}
	defer socket.Close()
	owner, err := wire.NewConn(socket).Peer()
	if err != nil {
		m.t.Fatal(err)
	}
	return int(owner.Pid)
}

func TestEnvironment(t *testing.T) {
	m := start(t)
	c := m.container("sh", "-c", `echo "$GREETING/$PATH/$HOME" > /dev/termination-log`)
	c.TerminationMessagePath = "/dev/termination-log"
	c.Env = []string{"GREETING=hello", "PATH=/usr/bin:/bin", "HOME=/nowhere"}
	if m.Info().CanMount {
		if s := m.run(c); s.TerminationMessage != "hello//usr/bin:/bin//nowhere\n" {
			t.Errorf("saw %q", s.TerminationMessage)
		}
	}
}

func TestWithoutMountsAVariableNamesTheTerminationMessageFile(t *testing.T) {
	onEveryLevel(t, func(t *testing.T, m *machine) {
		c := m.container("sh", "-c", `echo done > "${STINT_TERMINATION_LOG:-/dev/termination-log}"`)
		c.TerminationMessagePath = "/dev/termination-log"
		if s := m.run(c); s.TerminationMessage != "done\n" {
			t.Errorf("ended as %+v", s)
		}
	})
}

func TestHostname(t *testing.T) {
	m := start(t)
	if !m.Info().CanSetHostname {
		t.Skip("host names cannot be set here")
	}
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"worker-7", "", "worker-8"} {
		c := m.container("sh", "-c", "uname -n > /dev/termination-log")
		c.TerminationMessagePath = "/dev/termination-log"
		c.Hostname = name
		want := name
		if name == "" {
			want = own
		}
		if s := m.run(c); strings.TrimSpace(s.TerminationMessage) != want {
			t.Errorf("host name %q, want %q (%+v)", s.TerminationMessage, want, s)
		}
	}
}

func TestUser(t *testing.T) {
	m := start(t)
	c := m.container("sh", "-c", "id -u; id -g; id -G")
	c.User = &runtime.User{UID: 1234, GID: 2345, Groups: []uint32{3456}}
	s := m.run(c)
	if !m.Info().CanSetUser {
		if !strings.Contains(s.StartError, "only root") {
			t.Errorf("not refused: %+v", s)
		}
		return
	}
	if got := m.output(c); got != "1234\n2345\n2345 3456\n" {
		t.Errorf("ran as %q (%+v)", got, s)
	}
	root := m.container("id", "-u")
	root.User = &runtime.User{}
	if s := m.run(root); m.output(root) != "0\n" {
		t.Errorf("root was lost on the way: %+v", s)
	}
}

func TestNoNewPrivileges(t *testing.T) {
	m := start(t)
	for _, want := range []bool{true, false, true} {
		c := m.container("grep", "NoNewPrivs", "/proc/self/status")
		c.NoNewPrivileges = want
		m.run(c)
		if got := strings.Fields(m.output(c)); len(got) != 2 || (got[1] == "1") != want {
			t.Errorf("%q with NoNewPrivileges=%t", got, want)
		}
	}
}

func TestContainersInheritNoCapabilities(t *testing.T) {
	onEveryLevel(t, func(t *testing.T, m *machine) {
		sets := []string{"CapInh", "CapAmb"}
		if os.Geteuid() != 0 {
			sets = append(sets, "CapPrm", "CapEff")
		}
		for _, locked := range []bool{false, true} {
			c := m.container("cat", "/proc/self/status")
			c.NoNewPrivileges = locked
			m.run(c)
			status := m.output(c)
			for _, set := range sets {
				if !strings.Contains(status, set+":\t0000000000000000\n") {
					t.Errorf("%s is not empty (NoNewPrivileges %t):\n%s", set, locked, status)
				}
			}
		}
	})
}

// output is what the container has printed, without times.
func (m *machine) output(c runtime.Container) string {
	m.t.Helper()
	data, err := os.ReadFile(c.LogPath)
	if err != nil {
		m.t.Fatal(err)
	}
	var text strings.Builder
	for line := range strings.Lines(string(data)) {
		parts := strings.SplitN(line, " ", 4)
		if len(parts) != 4 {
			m.t.Fatalf("log line %q", line)
		}
		text.WriteString(parts[3])
	}
	return text.String()
}
