package process_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// exec runs a command in a container and returns its exit code and what it has printed.
func (m *machine) exec(id runtime.ID, stdin string, args ...string) (code int32, stdout, stderr string) {
	m.t.Helper()
	var out, errs bytes.Buffer
	streams := runtime.Streams{Stdout: &out, Stderr: &errs}
	if stdin != "" {
		streams.Stdin = strings.NewReader(stdin)
	}
	code, err := m.Exec(await.Context(m.t), id, runtime.Command{Args: args}, streams)
	var fault *runtime.CommandError
	if errors.As(err, &fault) {
		return fault.Code, out.String(), fault.Reason
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return code, out.String(), errs.String()
}

// sleeper starts a container that goes on until it is stopped.
func (m *machine) sleeper(c runtime.Container) runtime.ID {
	m.t.Helper()
	c.Command = []string{"sh", "-c", "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done"}
	if s := m.start(c); s.State != runtime.Running {
		m.t.Fatalf("%+v", s)
	}
	await.Until(m.t, "the container runs", func() bool { return m.outputIfAny(c) == "ready\n" })
	return c.ID
}

// needExec skips the test if commands cannot be run in containers.
func (m *machine) needExec() {
	if !m.Info().CanExec {
		m.t.Skip("commands cannot be run in containers here")
	}
}

// onContainers runs a test with a container of the machine's programs on every level, and with one of an image.
func onContainers(t *testing.T, test func(t *testing.T, m *machine, c runtime.Container)) {
	onEveryLevel(t, func(t *testing.T, m *machine) {
		m.needExec()
		test(t, m, m.container())
	})
	t.Run("image", func(t *testing.T) {
		m := imager(t)
		test(t, m, m.imageContainer(imageTree(t)))
	})
}

func TestACommandRunsInAContainer(t *testing.T) {
	onContainers(t, func(t *testing.T, m *machine, c runtime.Container) {
		c.Env = append(c.Env, "A=one", "PATH=/bin:/usr/bin")
		id := m.sleeper(c)
		plain := "/etc/passwd"
		for name, test := range map[string]struct {
			args                  []string
			stdin, stdout, stderr string
			code                  int32
		}{
			"its output":                   {[]string{"sh", "-c", "echo out; echo err >&2"}, "", "out\n", "err\n", 0},
			"its exit code":                {[]string{"sh", "-c", "exit 3"}, "", "", "", 3},
			"the signal that has ended it": {[]string{"sh", "-c", "kill -9 $$"}, "", "", "", 137},
			"its environment":              {[]string{"sh", "-c", "echo $A"}, "", "one\n", "", 0},
			"its input":                    {[]string{"cat"}, "in", "in", "", 0},
			"no input":                     {[]string{"cat"}, "", "", "", 0},
			"no program": {[]string{"no-such-program"}, "", "",
				"cannot run \"no-such-program\": there is no such program in the container", runtime.ExitNotFound},
			"no program at a path": {[]string{"/no/such"}, "", "",
				"cannot run \"/no/such\": there is no such program in the container", runtime.ExitNotFound},
			"a file that is no program": {[]string{plain}, "", "", "cannot run \"/etc/passwd\": permission denied", runtime.ExitCannotRun},
			"no command":                {[]string{""}, "", "", "there is no command", runtime.ExitNotFound},
			"no terminal":               {[]string{"sh", "-c", "test -t 0 || test -t 1 || echo none; ls /proc/self/fd | wc -l"}, "", "none\n4\n", "", 0},
		} {
			t.Run(name, func(t *testing.T) {
				m.t = t
				code, stdout, stderr := m.exec(id, test.stdin, test.args...)
				if code != test.code || stdout != test.stdout || stderr != test.stderr {
					t.Errorf("%d %q %q, want %d %q %q", code, stdout, stderr, test.code, test.stdout, test.stderr)
				}
			})
		}
		m.t = t
		if s := m.end(id); s.ExitCode != 0 {
			t.Errorf("the container ended with %+v", s)
		}
	})
}

// end stops a container and returns how it ended.
func (m *machine) end(id runtime.ID) runtime.Status {
	m.t.Helper()
	if err := m.Stop(await.Context(m.t), id, await.Limit); err != nil {
		m.t.Fatal(err)
	}
	return m.wait(id)
}

func TestACommandHasATerminal(t *testing.T) {
	onContainers(t, func(t *testing.T, m *machine, c runtime.Container) {
		id := m.sleeper(c)
		sizes := make(chan runtime.Size, 1)
		sizes <- runtime.Size{Columns: 91, Rows: 33}
		stdin, input := io.Pipe()
		output := &watchedBuffer{}
		go func() {
			await.Until(t, "the command reads", func() bool { return strings.Contains(output.String(), "33 91") })
			_, _ = io.WriteString(input, "hello\n")
		}()
		script := `stty -echo; stty size; read x; echo $x $TERM; ` +
			`echo mine > /dev/tty; tty > /dev/null && echo named; exit 5`
		code, err := m.Exec(await.Context(t), id, runtime.Command{Args: []string{"sh", "-c", script}, TTY: true},
			runtime.Streams{Stdin: stdin, Stdout: output, Sizes: sizes})
		if want := "33 91\r\nhello xterm\r\nmine\r\nnamed\r\n"; err != nil || code != 5 || output.String() != want {
			t.Errorf("ended with %d %v and printed %q, want 5 and %q", code, err, output, want)
		}
	})
}

// watchedBuffer can be read while it is written to.
type watchedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *watchedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *watchedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestMuchOutputOfACommandArrivesWhole(t *testing.T) {
	m := start(t)
	m.needExec()
	id := m.sleeper(m.container())
	file := filepath.Join(t.TempDir(), "data")
	data := make([]byte, 20<<20)
	for i := range data {
		data[i] = byte(i * i >> 7)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	hash := sha256.New()
	code, err := m.Exec(await.Context(t), id, runtime.Command{Args: []string{"sh", "-c", "cat > /dev/null; cat " + file}},
		runtime.Streams{Stdin: bytes.NewReader(data), Stdout: hash})
	if err != nil || code != 0 {
		t.Fatal(code, err)
	}
	if want := sha256.Sum256(data); !bytes.Equal(hash.Sum(nil), want[:]) {
		t.Error("the output differs")
	}
}

func TestACommandEndsWithItsContainer(t *testing.T) {
	onContainers(t, func(t *testing.T, m *machine, c runtime.Container) {
		id := m.sleeper(c)
		ready, write := io.Pipe()
		done := make(chan string, 1)
		go func() {
			_, err := m.Exec(await.Context(t), id, runtime.Command{Args: []string{"sh", "-c", "trap '' HUP TERM; echo ready; sleep 1000 & sleep 1000"}},
				runtime.Streams{Stdout: write})
			var fault *runtime.CommandError
			if errors.As(err, &fault) {
				done <- fmt.Sprint(fault.Code, " ", fault)
			} else {
				done <- fmt.Sprint(err)
			}
		}()
		if _, err := ready.Read(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		if s := m.end(id); s.ExitCode != 0 {
			t.Errorf("the container ended with %+v", s)
		}
		if got := await.Value(t, "the end of the command", done); got != "137 the container does not run any more" {
			t.Errorf("the command ended with %s", got)
		}
		if _, err := m.Exec(await.Context(t), id, runtime.Command{Args: []string{"true"}}, runtime.Streams{}); err == nil ||
			!strings.Contains(err.Error(), `container "main" does not run`) {
			t.Errorf("a command in a container that has ended: %v", err)
		}
	})
}

// A control plane that was killed cannot end its commands: the host does, and leaves the container alone.
func TestACommandEndsWithItsControlPlane(t *testing.T) {
	onContainers(t, func(t *testing.T, m *machine, c runtime.Container) {
		id := m.sleeper(c)
		for name, script := range map[string]string{
			"one that is told": "trap 'exit' HUP; echo $$; while :; do sleep 0.05; done",
			"one that ignores": "trap '' HUP; sleep 1000 & echo $$ $!; sleep 1000",
		} {
			ctx, cancel := context.WithCancel(await.Context(t))
			ready, write := io.Pipe()
			done := make(chan error, 1)
			go func() {
				_, err := m.Exec(ctx, id, runtime.Command{Args: []string{"sh", "-c", script}}, runtime.Streams{Stdout: write})
				done <- err
			}()
			pids, err := bufio.NewReader(ready).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			cancel()
			if err := await.Value(t, "the end of the command", done); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
			await.Until(t, name+" has ended", func() bool {
				_, out, _ := m.exec(id, "", "sh", "-c", "for p in "+strings.TrimSpace(pids)+"; do kill -0 $p 2>/dev/null && echo alive; done")
				return out == ""
			})
		}
		if s := m.end(id); s.ExitCode != 0 {
			t.Errorf("the container ended with %+v", s)
		}
	})
}

// What a command leaves behind runs on, and does not hold up the command's end.
func TestACommandThatLeavesAProcessBehind(t *testing.T) {
	onContainers(t, func(t *testing.T, m *machine, c runtime.Container) {
		id := m.sleeper(c)
		code, out, _ := m.exec(id, "", "sh", "-c", "sleep 1000 & echo $!")
		if code != 0 {
			t.Fatalf("ended with %d", code)
		}
		if code, _, errs := m.exec(id, "", "kill", "-0", strings.TrimSpace(out)); code != 0 {
			t.Errorf("the process has ended: %s", errs)
		}
		m.end(id)
	})
}

func TestACommandInAnImageHasTheRightsOfItsContainer(t *testing.T) {
	m := imager(t)
	c := m.imageContainer(imageTree(t))
	c.NoNewPrivileges = true
	c.WorkingDir = "/home"
	c.Hostname = "worker"
	c.Root.Capabilities = 1 << 5
	if m.Info().ImageIDs != 1 {
		c.User = &runtime.User{UID: 1000, GID: 2000, Groups: []uint32{3000}}
	}
	const show = "id; hostname; pwd; grep -e ^Cap -e NoNew -e Seccomp: /proc/self/status; for n in pid mnt ipc uts cgroup user net; do readlink /proc/self/ns/$n; done; cat /etc/os-release"
	c.Command = []string{"sh", "-c", show + "; echo end; trap 'exit 0' TERM; while :; do sleep 0.05; done"}
	m.start(c)
	await.Until(t, "the container has printed", func() bool { return strings.Contains(m.outputIfAny(c), "end\n") })
	want := strings.TrimSuffix(m.output(c), "end\n")
	code, out, errs := m.exec(c.ID, "", "sh", "-c", show)
	if code != 0 || out != want {
		t.Errorf("a command has %d\n%s%s\nthe main process has\n%s", code, out, errs, want)
	}
}

func TestACommandIsInTheCgroupsOfItsContainer(t *testing.T) {
	onContainers(t, func(t *testing.T, m *machine, c runtime.Container) {
		if info := m.Info(); !info.EnforcesMemory {
			t.Skip("no limits are enforced here")
		}
		c.MemoryLimitBytes = 64 << 20
		const show = "cat /proc/self/cgroup; "
		c.Command = []string{"sh", "-c", show + "echo end; trap 'exit 0' TERM; while :; do sleep 0.05; done"}
		m.start(c)
		await.Until(t, "the container has printed", func() bool { return strings.Contains(m.outputIfAny(c), "end\n") })
		want := strings.TrimSuffix(m.output(c), "end\n")
		if _, got, _ := m.exec(c.ID, "", "sh", "-c", show); got != want {
			t.Errorf("a command is in\n%s\nthe main process in\n%s", got, want)
		}
	})
}

func TestManyCommandsLeaveNoFilesOpen(t *testing.T) {
	m := start(t)
	m.needExec()
	id := m.sleeper(m.container())
	host := m.hostPID()
	round := func() {
		for range 20 {
			m.exec(id, "x", "cat")
			if _, err := m.Exec(await.Context(t), id, runtime.Command{Args: []string{"true"}, TTY: true}, runtime.Streams{}); err != nil {
				t.Fatal(err)
			}
			m.exec(id, "", "no-such-program")
		}
	}
	round()
	before := openFiles(t, host)
	round()
	await.Until(t, "the host has no more files open", func() bool { return openFiles(t, host) <= before })
}
