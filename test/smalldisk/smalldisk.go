// Package smalldisk runs tests on small file systems, which they may fill.
package smalldisk

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// inside is the variable that names the test that runs in a mount namespace of its own.
const inside = "STINT_TEST_SMALL_DISK"

// Run calls do with the directory of a file system of so many MiB. For that it runs the test t, which does nothing else, again in a
// mount namespace of its own, so that no other program sees the file system. Without root it skips the test.
func Run(t *testing.T, mib int, do func(dir string)) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a small file system")
	}
	if os.Getenv(inside) != t.Name() {
		again(t)
		return
	}
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=700", mib)); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	do(dir)
}

func again(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	timeout := "0"
	if deadline, ok := t.Deadline(); ok {
		timeout = max(time.Second, time.Until(deadline)-time.Second).String()
	}
	cmd := exec.Command(self, "-test.v", "-test.count=1", "-test.timeout="+timeout, "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), inside+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS, Pdeathsig: unix.SIGKILL}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// Fill writes a file of so many MiB.
func Fill(t testing.TB, path string, mib int) {
	t.Helper()
	if err := os.WriteFile(path, make([]byte, mib<<20), 0o600); err != nil {
		t.Fatal(err)
	}
}

// FillUp writes a file until the disk is full.
func FillUp(t testing.TB, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for chunk := make([]byte, 1<<20); err == nil; {
		_, err = f.Write(chunk)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
}
