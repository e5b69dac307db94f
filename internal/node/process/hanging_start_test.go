package process_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/smalldisk"
)

// These tests have processes that do not execute their programs: the container has stopped them, or its disk does not answer.

// stopping is the script of process 1 of a container, which stops each process that it sees.
const stopping = `echo ready; while :; do for p in /proc/[0-9]*; do p=${p#/proc/}; [ $p = 1 ] || [ $p = $$ ] || kill -STOP $p; done; done 2>/dev/null`

// stoppers runs a test with containers that stop each command before it executes its program.
func stoppers(t *testing.T, test func(t *testing.T, m *machine, c runtime.Container)) {
	for name, shared := range map[string]bool{"its own process ids": false, "shared process ids": true} {
		t.Run(name, func(t *testing.T) {
			m := imager(t)
			m.needExec()
			c := m.imageContainer(imageTree(t), "sh", "-c", stopping)
			c.Root.SharePIDs = shared
			// Each folder is one more system call before the program runs.
			c.Env = []string{"PATH=" + manyFolders(20_000) + "/bin:/usr/bin"}
			m.start(c)
			await.Until(t, "the container runs", func() bool { return m.outputIfAny(c) != "" })
			test(t, m, c)
		})
	}
}

// children counts the processes of the host with that state before and after they have executed their programs.
func (m *machine) children(state string) (before, after int) {
	m.t.Helper()
	m.eachChild(func(pid int) {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		switch {
		case !strings.Contains(string(status), "State:\t"+state):
		case strings.HasPrefix(program, "/memfd:"):
			before++
		default:
			after++
		}
	})
	return before, after
}

func (m *machine) eachChild(do func(pid int)) {
	m.t.Helper()
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", m.hostPID()))
	for _, task := range tasks {
		children, _ := os.ReadFile(task)
		for _, word := range strings.Fields(string(children)) {
			if pid, err := strconv.Atoi(word); err == nil {
				do(pid)
			}
		}
	}
}

const stopped = "T"

func (m *machine) noneIsStopped() bool {
	before, after := m.children(stopped)
	return before+after == 0
}

// hang starts a command that the container stops before it executes its program.
func (m *machine) hang(c runtime.Container) (cancel context.CancelFunc, done <-chan error) {
	m.t.Helper()
	for {
		ctx, cancel := context.WithCancel(await.Context(m.t))
		ended := make(chan error, 1)
		go func() {
			_, err := m.Exec(ctx, c.ID, runtime.Command{Args: []string{"true"}}, runtime.Streams{})
			ended <- err
		}()
		before, after := 0, 0
		await.Until(m.t, "the command is stopped, or has ended", func() bool {
			before, after = m.children(stopped)
			return before+after+len(ended) > 0
		})
		if before > 0 {
			return cancel, ended
		}
		cancel()
		<-ended
		await.Until(m.t, "the process has ended", m.noneIsStopped)
	}
}

func TestACommandThatItsContainerStopsEndsWithItsClient(t *testing.T) {
	stoppers(t, func(t *testing.T, m *machine, c runtime.Container) {
		files := openFiles(t, m.hostPID())
		for range 3 {
			cancel, done := m.hang(c)
			cancel()
			if err := await.Value(t, "the end of the command", done); !errors.Is(err, context.Canceled) {
				t.Errorf("the command ended with %v", err)
			}
			await.Until(t, "the process has ended", m.noneIsStopped)
		}
		await.Until(t, "the host has no more files open", func() bool { return openFiles(t, m.hostPID()) <= files })
	})
}

func TestACommandThatItsContainerStopsEndsWithTheContainer(t *testing.T) {
	stoppers(t, func(t *testing.T, m *machine, c runtime.Container) {
		_, done := m.hang(c)
		if err := m.Stop(await.Context(t), c.ID, 0); err != nil {
			t.Fatal(err)
		}
		if s := m.wait(c.ID); s.Signal != 9 || s.Lost {
			t.Errorf("the container ended with %+v", s)
		}
		if err := await.Value(t, "the end of the command", done); err == nil || !strings.Contains(err.Error(), "the container does not run any more") {
			t.Errorf("the command ended with %v", err)
		}
	})
}

// disk is a FUSE file system that does not answer.
type disk struct {
	dir    string
	device int
}

// hangingDisk mounts a disk. The test must run in a mount namespace of its own. A process that waits for the disk can be killed, unless
// the disk has taken its request.
func hangingDisk(t *testing.T, dir string) *disk {
	t.Helper()
	device, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip(err)
	}
	d := &disk{dir: filepath.Join(dir, "disk"), device: device}
	if err := os.Mkdir(d.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", device)
	if err := unix.Mount("test", d.dir, "fuse", 0, options); err != nil {
		t.Skipf("cannot mount a FUSE file system: %v", err)
	}
	t.Cleanup(func() {
		d.end()
		unix.Close(device)
	})
	return d
}

// end fails all requests.
func (d *disk) end() { _ = unix.Unmount(d.dir, unix.MNT_FORCE|unix.MNT_DETACH) }

// begin answers the request by which the kernel makes itself known.
func (d *disk) begin(t testing.TB) {
	t.Helper()
	const headerSize, initSize, version, minor = 16, 64, 7, 31
	request := make([]byte, 64<<10)
	if _, err := unix.Read(d.device, request); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, headerSize+initSize)
	binary.NativeEndian.PutUint32(answer, uint32(len(answer)))
	copy(answer[8:headerSize], request[8:16]) // the id of the request
	binary.NativeEndian.PutUint32(answer[headerSize:], version)
	binary.NativeEndian.PutUint32(answer[headerSize+4:], minor)
	if _, err := unix.Write(d.device, answer); err != nil {
		t.Fatal(err)
	}
}

// isAsked reports whether a request waits to be taken.
func (d *disk) isAsked() bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(d.device), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

// take takes all requests.
func (d *disk) take() (taken <-chan struct{}) {
	requests := make(chan struct{}, 1000)
	request := make([]byte, 64<<10)
	go func() {
		for {
			switch _, err := unix.Read(d.device, request); {
			case err == nil:
				requests <- struct{}{}
			case !errors.Is(err, unix.EINTR):
				return
			}
		}
	}()
	return requests
}

func onHangingDisk(t *testing.T, test func(m *machine, d *disk)) {
	smalldisk.Run(t, 16, func(dir string) {
		d := hangingDisk(t, dir) // The host process sees what is mounted before it starts.
		m := start(t)
		m.needExec()
		test(m, d)
	})
}

// execOn starts a command whose program is on the disk.
func (m *machine) execOn(d *disk, id runtime.ID) (cancel context.CancelFunc, done <-chan error) {
	ctx, cancel := context.WithCancel(await.Context(m.t))
	ended := make(chan error, 1)
	go func() {
		_, err := m.Exec(ctx, id, runtime.Command{Args: []string{filepath.Join(d.dir, "program")}}, runtime.Streams{})
		ended <- err
	}()
	return cancel, ended
}

// maxUnsettled is that of package sandbox.
const maxUnsettled = 100

func TestTooManyCommandsThatDoNotStart(t *testing.T) {
	onHangingDisk(t, func(m *machine, d *disk) {
		check := m.bystander()
		id := m.sleeper(m.container())
		files := openFiles(t, m.hostPID())
		var clients []<-chan error
		ctx, cancel := context.WithCancel(await.Context(t))
		defer cancel()
		for range maxUnsettled {
			end, done := m.execOn(d, id)
			context.AfterFunc(ctx, end)
			clients = append(clients, done)
		}
		await.Until(t, "all commands are being started", func() bool {
			begun, _ := m.children("")
			return begun == maxUnsettled
		})
		code, _, reason := m.exec(id, "", "true")
		if want := "100 commands of the container were started and have not run yet"; code != runtime.ExitCannotRun || !strings.Contains(reason, want) {
			t.Errorf("one more ended with %d %q, want %q", code, reason, want)
		}
		check()
		cancel()
		for _, done := range clients {
			if err := await.Value(t, "the end of a command", done); !errors.Is(err, context.Canceled) {
				t.Errorf("a command ended with %v", err)
			}
		}
		await.Until(t, "the host has no more files open", func() bool { return openFiles(t, m.hostPID()) <= files })
		if code, _, reason := m.exec(id, "", "true"); code != 0 {
			t.Errorf("a command ended with %d %s", code, reason)
		}
		m.end(id)
	})
}

// Not even the kernel can end a process whose request a disk has taken. All but its descriptor is given up.
func TestACommandThatCannotBeKilledHoldsNothing(t *testing.T) {
	onHangingDisk(t, func(m *machine, d *disk) {
		id := m.sleeper(m.container())
		files := openFiles(t, m.hostPID())
		d.begin(t)
		taken := d.take()
		cancel, done := m.execOn(d, id)
		await.Value(t, "the request of the command", taken)
		cancel()
		<-done
		await.Until(t, "the host has one more file open", func() bool { return openFiles(t, m.hostPID()) <= files+1 })
		if code, _, reason := m.exec(id, "", "true"); code != 0 {
			t.Errorf("another command ended with %d %s", code, reason)
		}
		d.end()
		await.Until(t, "the host has no more files open", func() bool { return openFiles(t, m.hostPID()) <= files })
		m.end(id)
	})
}

// hanging returns a container whose process waits for the disk as it executes its program, and starts it.
func (m *machine) hanging(d *disk) (c runtime.Container, started <-chan runtime.Status) {
	m.t.Helper()
	d.begin(m.t)
	script := filepath.Join(m.dir, "script")
	if err := os.WriteFile(script, []byte("#!"+filepath.Join(d.dir, "interpreter")+"\n"), 0o755); err != nil {
		m.t.Fatal(err)
	}
	c = m.container(script)
	statuses := make(chan runtime.Status, 1)
	go func() {
		s, err := m.Start(await.Context(m.t), c)
		if err != nil {
			m.t.Error(err)
		}
		statuses <- s
	}()
	await.Until(m.t, "the container is being started", d.isAsked)
	return c, statuses
}

func TestAContainerThatDoesNotStartCanBeStopped(t *testing.T) {
	for name, stop := range map[string]func(m *machine, c runtime.Container) error{
		"at once":            func(m *machine, c runtime.Container) error { return m.Stop(await.Context(t), c.ID, 0) },
		"after a time":       func(m *machine, c runtime.Container) error { return m.Stop(await.Context(t), c.ID, time.Millisecond) },
		"as its pod is gone": func(m *machine, c runtime.Container) error { return m.RemovePod(await.Context(t), c.PodUID, "") },
	} {
		t.Run(name, func(t *testing.T) {
			onHangingDisk(t, func(m *machine, d *disk) {
				check := m.bystander()
				c, started := m.hanging(d)
				if err := stop(m, c); err != nil {
					t.Fatal(err)
				}
				await.Value(t, "the answer to the start", started)
				if s := m.wait(c.ID); s.Signal != 9 || s.Lost || s.StartError != "" {
					t.Errorf("it ended with %+v", s)
				}
				check()
			})
		})
	}
}

// The control plane that asked for the start has gone meanwhile, and the next one has found the container among those that run.
func TestTheNextControlPlaneLearnsThatAContainerDidNotStart(t *testing.T) {
	onHangingDisk(t, func(m *machine, d *disk) {
		d.begin(t)
		c := m.container(filepath.Join(d.dir, "program"))
		go func() { _, _ = m.Start(await.Context(t), c) }()
		await.Until(t, "the container is being started", d.isAsked)
		next := startIn(t, m.dir)
		if s := next.list()[c.ID]; s.State != runtime.Running {
			t.Errorf("it is %+v", s)
		}
		m.Close()
		d.end()
		if s := next.wait(c.ID); s.ExitCode != 128 || s.StartError == "" {
			t.Errorf("it ended with %+v", s)
		}
	})
}

// A container of a pod stops another one before that has executed its program. Stop finds it so.
func TestAContainerIsToldToStopWhenItHasStarted(t *testing.T) {
	m := imager(t)
	tree := imageTree(t)
	stopper := m.sharing(tree, "stopper", stopping)
	m.start(stopper)
	await.Until(t, "the first container runs", func() bool { return m.outputIfAny(stopper) != "" })
	c, started := m.stoppedByAnother(tree)
	if err := m.Stop(await.Context(t), c.ID, await.Limit); err != nil {
		t.Fatal(err)
	}
	m.kill(stopper)
	m.eachChild(func(pid int) { _ = unix.Kill(pid, unix.SIGCONT) })
	if err := await.Value(t, "the answer to the start", started); err != nil {
		t.Error(err)
	}
	if s := m.wait(c.ID); s.Signal != int32(unix.SIGTERM) {
		t.Errorf("it ended with %+v", s)
	}
}

// stoppedByAnother starts a container beside one that stops it before it has executed its program.
func (m *machine) stoppedByAnother(tree string) (c runtime.Container, started <-chan error) {
	m.t.Helper()
	for n := 0; ; n++ {
		c := m.sharing(tree, fmt.Sprint("sleeper-", n), "sleep 1000")
		done := make(chan error, 1)
		go func() {
			_, err := m.Start(await.Context(m.t), c)
			done <- err
		}()
		await.Until(m.t, "the container is stopped", func() bool { return !m.noneIsStopped() })
		if before, _ := m.children(stopped); before > 0 {
			return c, done
		}
		m.kill(c)
	}
}

func (m *machine) kill(c runtime.Container) {
	m.t.Helper()
	if err := m.Stop(await.Context(m.t), c.ID, 0); err != nil {
		m.t.Fatal(err)
	}
	m.wait(c.ID)
}

// A thread of the host process looks up the program. However many of them wait for a disk, others start containers and commands.
func TestADiskThatDoesNotAnswerHoldsUpNoOtherContainer(t *testing.T) {
	onHangingDisk(t, func(m *machine, d *disk) {
		check := m.bystander()
		d.begin(t)
		const moreThanThreads = 10
		ended := make(chan string, moreThanThreads)
		for range moreThanThreads {
			c := m.container(filepath.Join(d.dir, "program"))
			go func() {
				s, err := m.Start(await.Context(t), c)
				ended <- fmt.Sprint(s.StartError, err)
			}()
		}
		await.Until(t, "the disk is asked", d.isAsked)
		if s := m.run(m.container("true")); s.ExitCode != 0 {
			t.Errorf("another container ended with %+v", s)
		}
		check()
		d.end()
		for range moreThanThreads {
			if got := await.Value(t, "the answer to a start", ended); !strings.Contains(got, "cannot run") {
				t.Errorf("a container on the disk: %s", got)
			}
		}
	})
}
