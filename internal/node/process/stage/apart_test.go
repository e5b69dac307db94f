//go:build linux && (amd64 || arm64)

package stage_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/stage"
)

// The child has no descriptor that its list does not use, and its parent is this process.
func TestAChildWithMemoryOfItsOwn(t *testing.T) {
	fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY, 0) // without O_CLOEXEC
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	script := fmt.Sprintf("echo $PPID; test -e /proc/$$/fd/%d || echo closed; test -e /proc/$$/fd/2 || echo closed", fd)
	text, _ := output(t, stage.NewApart(), 0, "/bin/sh", "-c", script)
	if want := fmt.Sprintf("%d\nclosed\nclosed\n", os.Getpid()); text != want {
		t.Errorf("it prints %q, not %q", text, want)
	}
}

// The errors of calls reach this process from another memory, also those of more calls than fit into a pipe.
func TestManyCallsFailApart(t *testing.T) {
	p := stage.NewApart()
	paths := make([]string, 150_000)
	for i := range paths {
		paths[i] = "/no"
	}
	paths[100] = "/etc/passwd"
	p.Run("run a program", paths, []string{"true"}, nil)
	if _, err := onThread(t, p, 0); !errors.Is(err, unix.EACCES) {
		t.Errorf("Wait() = %v", err)
	}
}

// Start waits for the first child only: the other one may be stopped.
func TestAChildThatHangsIsStarted(t *testing.T) {
	p := stage.NewApart()
	p.Do("wait", unix.SYS_PPOLL, 0, 0, 0, 0)
	goruntime.LockOSThread()
	c, err := stage.Start(p, 0, -1)
	goruntime.UnlockOSThread()
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.PidfdSendSignal(c.PIDFD, unix.SIGKILL, nil, 0); err != nil {
		t.Fatal(err)
	}
	unix.Close(c.PIDFD)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(c.PID, &status, 0, nil); err != nil || status.Signal() != unix.SIGKILL {
		t.Errorf("it ended with %v, %v", status, err)
	}
	if err := c.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAChildStartsInAPIDNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("takes root")
	}
	first := &stage.Program{}
	c, err := onThread(t, execute(first, "/bin/sleep", "1000"), unix.CLONE_NEWPID)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = unix.PidfdSendSignal(c.PIDFD, unix.SIGKILL, nil, 0)
		_, _ = unix.Wait4(c.PID, nil, 0, nil)
	}()
	p := stage.NewApart()
	p.EnterPIDs(c.PIDFD)
	text, _ := output(t, p, 0, "/bin/sh", "-c", "echo $$ $PPID")
	if text != "2 0\n" {
		t.Errorf("its ids are %q", text)
	}
	if err := unix.PidfdSendSignal(c.PIDFD, unix.SIGKILL, nil, 0); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(c.PID, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	p = stage.NewApart()
	p.EnterPIDs(c.PIDFD)
	if _, err := tryThread(t, execute(p, "/bin/true"), 0); !errors.Is(err, unix.ESRCH) && !errors.Is(err, unix.ENOMEM) {
		t.Errorf("a namespace that has ended: %v", err)
	}
}

func TestAnExecutableIsSealed(t *testing.T) {
	code := []byte("code")
	f, err := stage.NewExecutable("test", stage.Segment{Address: 0x400000, Flags: elf.PF_R | elf.PF_X, Data: code},
		stage.Segment{Address: 0x10000000, Flags: elf.PF_R, Data: []byte("data")})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{1}, 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("it can be written: %v", err)
	}
	file, err := elf.NewFile(f)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]byte{code, []byte("data")} {
		if got, err := io.ReadAll(file.Progs[i].Open()); err != nil || !bytes.Equal(got, want) {
			t.Errorf("segment %d is %q, %v", i, got, err)
		}
	}
	if file.Entry != file.Progs[0].Vaddr {
		t.Errorf("it starts at %x", file.Entry)
	}
}
