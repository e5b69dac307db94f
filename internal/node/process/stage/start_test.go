//go:build linux && (amd64 || arm64)

package stage_test

import (
	"errors"
	"io"
	"os"
	goruntime "runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/stage"
)

// onThread starts p from a locked thread and waits until its list is done.
func onThread(t testing.TB, p *stage.Program, own stage.Namespaces) (*stage.Child, error) {
	t.Helper()
	c, err := tryThread(t, p, own)
	if c == nil {
		t.Fatal(err)
	}
	return c, err
}

// tryThread returns no Child if it cannot be started.
func tryThread(t testing.TB, p *stage.Program, own stage.Namespaces) (*stage.Child, error) {
	goruntime.LockOSThread()
	c, err := stage.Start(p, own, -1)
	goruntime.UnlockOSThread()
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { unix.Close(c.PIDFD) })
	err = c.Wait(t.Context())
	if err != nil {
		_, _ = syscall.Wait4(c.PID, nil, 0, nil)
	}
	return c, err
}

// onBoth runs a test with programs whose child shares the memory of this process, and with those whose child does not.
func onBoth(t *testing.T, test func(t *testing.T, newProgram func() *stage.Program)) {
	t.Run("shared memory", func(t *testing.T) { test(t, func() *stage.Program { return &stage.Program{} }) })
	t.Run("memory of its own", func(t *testing.T) { test(t, stage.NewApart) })
}

func execute(p *stage.Program, words ...string) *stage.Program {
	p.Do("run "+words[0], unix.SYS_EXECVE, p.String(words[0]), p.Strings(words), p.Strings([]string{"A=1", "B=two words"}))
	return p
}

// output runs p with its standard output on a pipe.
func output(t testing.TB, p *stage.Program, own stage.Namespaces, words ...string) (string, syscall.WaitStatus) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p.Do("set the standard output", unix.SYS_DUP3, p.FD(int(w.Fd())), 1, 0)
	c, err := onThread(t, execute(p, words...), own)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(c.PID, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	return string(text), status
}

func TestACallIsMadeOnlyIfAnotherFails(t *testing.T) {
	onBoth(t, func(t *testing.T, newProgram func() *stage.Program) {
		for dir, want := range map[string]string{"/usr": "/usr\n", "/no/such": "/\n"} {
			p := newProgram()
			p.Do("change the directory", unix.SYS_CHDIR, p.String("/dev"))
			p.Do("change the directory", unix.SYS_CHDIR, p.String(dir))
			p.Else(unix.SYS_CHDIR, p.String("/"))
			if text, _ := output(t, p, 0, "/bin/pwd"); text != want {
				t.Errorf("with %s it is in %q", dir, text)
			}
		}
	})
}

func TestAChildExecutesItsProgram(t *testing.T) {
	onBoth(t, func(t *testing.T, newProgram func() *stage.Program) {
		text, status := output(t, newProgram(), 0, "/bin/sh", "-c", `echo "$A, $B"; exit 3`)
		if text != "1, two words\n" || status.ExitStatus() != 3 {
			t.Errorf("printed %q, exit status %d", text, status.ExitStatus())
		}
	})
}

func TestAFailedCallIsNamed(t *testing.T) {
	onBoth(t, func(t *testing.T, newProgram func() *stage.Program) {
		p := newProgram()
		p.Try(unix.SYS_CHDIR, p.String("/nowhere"))
		p.Do("enter its working directory", unix.SYS_CHDIR, p.String("/not/there"))
		_, err := onThread(t, execute(p, "/bin/true"), 0)
		if !errors.Is(err, unix.ENOENT) || err.Error() != "cannot enter its working directory: no such file or directory" {
			t.Errorf("Wait() = %v", err)
		}
		_, err = onThread(t, execute(newProgram(), "/bin/nothing"), 0)
		if err == nil || !strings.Contains(err.Error(), "cannot run /bin/nothing") {
			t.Errorf("Wait() = %v", err)
		}
	})
}

func TestTheFirstProgramRuns(t *testing.T) {
	onBoth(t, func(t *testing.T, newProgram func() *stage.Program) {
		run := func(paths ...string) error {
			p := newProgram()
			p.Run("run a program", paths, []string{"true"}, nil)
			_, err := onThread(t, p, 0)
			return err
		}
		if err := run("/no/true", "/etc/passwd", "/bin/true", "/bin/no"); err != nil {
			t.Error(err)
		}
		if err := run("/no/true", "/etc/passwd", "/no/true"); !errors.Is(err, unix.EACCES) {
			t.Errorf("a file that may not be executed: %v", err)
		}
		if err := run("/no/true", "/etc/passwd/true"); !errors.Is(err, unix.ENOTDIR) && !errors.Is(err, unix.ENOENT) {
			t.Errorf("no file: %v", err)
		}
	})
}

func TestDescriptorsAreClosed(t *testing.T) {
	onBoth(t, func(t *testing.T, newProgram func() *stage.Program) {
		fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		p := newProgram()
		p.CloseFrom(3)
		p.Do("enter a closed directory", unix.SYS_FCHDIR, uintptr(fd))
		if _, err := onThread(t, execute(p, "/bin/true"), 0); err == nil || err.Error() != "cannot enter a closed directory: bad file descriptor" {
			t.Errorf("Wait() = %v", err)
		}
		p = newProgram()
		p.CloseFrom(3)
		if _, err := onThread(t, execute(p, "/bin/nothing"), 0); !errors.Is(err, unix.ENOENT) {
			t.Errorf("Wait() = %v", err)
		}
	})
}

// The child of a list without an execve must exit, not return into this program.
func TestAListWithoutAProgramEnds(t *testing.T) {
	onBoth(t, func(t *testing.T, newProgram func() *stage.Program) {
		p := newProgram()
		p.Do("ask for its number", unix.SYS_GETPID)
		c, err := onThread(t, p, 0)
		if err != nil {
			t.Fatal(err)
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(c.PID, &status, 0, nil); err != nil || status.ExitStatus() != 127 {
			t.Errorf("exit status %d, %v", status.ExitStatus(), err)
		}
	})
}

// The child has neither the signal handlers of this program nor the signal mask that it was cloned with.
func TestAChildIsGivenItsSignals(t *testing.T) {
	onBoth(t, func(t *testing.T, newProgram func() *stage.Program) {
		p := newProgram()
		p.Do("unblock signals", unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, p.Bytes(make([]byte, 8)), 0, 8)
		text, _ := output(t, p, 0, "/bin/cat", "/proc/self/status")
		for _, none := range []string{"SigBlk:\t0000000000000000\n", "SigCgt:\t0000000000000000\n"} {
			if !strings.Contains(text, none) {
				t.Errorf("want %q in\n%s", none, text)
			}
		}
	})
}

// Many start at a time, while the garbage collector frees what it can.
func TestManyStartSideBySide(t *testing.T) {
	onBoth(t, func(t *testing.T, newProgram func() *stage.Program) {
		stop := make(chan struct{})
		var collector, starters sync.WaitGroup
		collector.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					goruntime.GC()
				}
			}
		})
		for range 8 {
			starters.Go(func() {
				goruntime.LockOSThread()
				for range 100 {
					c, err := stage.Start(execute(newProgram(), "/bin/sh", "-c", `test "$B" = "two words"`), 0, -1)
					if err != nil {
						t.Error(err)
						return
					}
					var status syscall.WaitStatus
					if err := c.Wait(t.Context()); err != nil {
						t.Error(err)
					} else if _, err := syscall.Wait4(c.PID, &status, 0, nil); err != nil || status != 0 {
						t.Errorf("status %v, %v", status, err)
					}
					unix.Close(c.PIDFD)
				}
			})
		}
		starters.Wait()
		close(stop)
		collector.Wait()
	})
}

func TestAChildMountsInItsOwnNamespaces(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("takes a thread that may mount")
	}
	onBoth(t, func(t *testing.T, newProgram func() *stage.Program) {
		p := newProgram()
		p.Do("make mounts private", unix.SYS_MOUNT, 0, p.String("/"), 0, unix.MS_REC|unix.MS_SLAVE)
		p.Do("mount /proc", unix.SYS_MOUNT, p.String("proc"), p.String("/proc"), p.String("proc"), unix.MS_NOSUID)
		text, _ := output(t, p, unix.CLONE_NEWPID|unix.CLONE_NEWNS, "/bin/sh", "-c", "echo $$; ls -d /proc/[0-9]*")
		if !strings.HasPrefix(text, "1\n/proc/1\n") {
			t.Errorf("printed %q", text)
		}
	})
}

// BenchmarkStart compares the steps between clone and execve of a container with a process without any.
func BenchmarkStart(b *testing.B) {
	const own = unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	shared := func() *stage.Program { return &stage.Program{} }
	variants := []struct {
		name string
		own  stage.Namespaces
		// newProgram makes the list, make adds to it.
		newProgram func() *stage.Program
		make       func(*stage.Program)
	}{
		{"execve", 0, shared, func(*stage.Program) {}},
		{"memory of its own", 0, stage.NewApart, func(*stage.Program) {}},
		{"namespaces", own, shared, func(*stage.Program) {}},
		{"and proc", own | unix.CLONE_NEWNS, shared, mountProc},
		{"and masks", own | unix.CLONE_NEWNS, shared, func(p *stage.Program) { mountProc(p); mask(p) }},
	}
	b.Run("ForkExec", func(b *testing.B) {
		onTwoThreads(b, func() {
			pid, err := syscall.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{})
			if err == nil {
				_, err = syscall.Wait4(pid, nil, 0, nil)
			}
			if err != nil {
				b.Error(err)
			}
		})
	})
	for _, v := range variants {
		b.Run(v.name, func(b *testing.B) {
			if v.own != 0 && os.Geteuid() != 0 {
				b.Skip("takes root")
			}
			onTwoThreads(b, func() {
				p := v.newProgram()
				v.make(p)
				c, err := stage.Start(execute(p, "/bin/true"), v.own, -1)
				if err == nil {
					err = c.Wait(b.Context())
				}
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = syscall.Wait4(c.PID, nil, 0, nil)
				unix.Close(c.PIDFD)
			})
		})
	}
}

// onTwoThreads runs do on two threads and reports how often a second.
func onTwoThreads(b *testing.B, do func()) {
	var all sync.WaitGroup
	b.ResetTimer()
	for i := range 2 {
		all.Go(func() {
			goruntime.LockOSThread()
			for range (b.N + i) / 2 {
				do()
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "starts/s")
}

func mountProc(p *stage.Program) {
	p.Do("make mounts private", unix.SYS_MOUNT, 0, p.String("/"), 0, unix.MS_REC|unix.MS_SLAVE)
	p.Do("mount /proc", unix.SYS_MOUNT, p.String("proc"), p.String("/proc"), p.String("proc"), unix.MS_NOSUID)
}

func mask(p *stage.Program) {
	for _, name := range []string{"kcore", "keys", "latency_stats", "timer_list", "sched_debug"} {
		p.Try(unix.SYS_MOUNT, p.String("/dev/null"), p.String("/proc/"+name), 0, unix.MS_BIND)
	}
	for _, name := range []string{"acpi", "scsi", "asound"} {
		p.Try(unix.SYS_MOUNT, p.String("tmpfs"), p.String("/proc/"+name), p.String("tmpfs"), unix.MS_RDONLY)
	}
	for _, name := range []string{"bus", "fs", "irq", "sys", "sysrq-trigger"} {
		p.Try(unix.SYS_MOUNT, p.String("/proc/"+name), p.String("/proc/"+name), 0, unix.MS_BIND|unix.MS_REC)
		p.Try(unix.SYS_MOUNT, 0, p.String("/proc/"+name), 0, unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY)
	}
}
