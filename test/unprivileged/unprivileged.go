// Package unprivileged runs the tests of a package again as a user without rights.
package unprivileged

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// user has no rights and, but for WithSubordinateIDs, no subordinate ids.
const user = 65534

// Run runs the tests that match a pattern of go test as a user without rights.
func Run(t *testing.T, pattern string) {
	t.Helper()
	again(t, pattern, "")
}

// WithSubordinateIDs is Run for a user who has subordinate ids.
func WithSubordinateIDs(t *testing.T, pattern string) {
	t.Helper()
	if _, err := exec.LookPath("newuidmap"); err != nil {
		t.Skip(err)
	}
	ids := filepath.Join(t.TempDir(), "ids")
	if err := os.WriteFile(ids, []byte(strconv.Itoa(user)+":200000:65536\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// The mounts hide the machine's own files, which stay unchanged.
	again(t, pattern, "for f in /etc/subuid /etc/subgid; do mount --bind "+ids+" $f; done; "+
		// A user who has logged in has such a directory.
		"mount -t tmpfs none /run; mkdir -p -m 755 /run/user; mkdir -m 700 /run/user/$0; chown $0 /run/user/$0; ")
}

// again runs this test program, in a mount namespace that a shell script prepares.
func again(t *testing.T, pattern, prepare string) {
	t.Helper()
	if testing.Short() {
		t.Skip("not run twice in short mode")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user; without being root all tests are of this kind")
	}
	dir, err := os.MkdirTemp("", "stint-unprivileged-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, user, user); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program.test")
	CopyProgram(t, program)
	if _, err := os.Stat("testdata"); err == nil {
		if err := os.CopyFS(filepath.Join(dir, "testdata"), os.DirFS("testdata")); err != nil {
			t.Fatal(err)
		}
	}
	timeout := "0"
	if deadline, ok := t.Deadline(); ok {
		timeout = max(time.Minute, time.Until(deadline)-time.Minute).String()
	}
	args := []string{"--mount", "sh", "-ec", prepare + `exec setpriv --reuid "$0" --regid "$0" --clear-groups "$@"`, strconv.Itoa(user),
		program, "-test.v", "-test.timeout=" + timeout, "-test.run=" + pattern}
	cmd := exec.Command("unshare", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir, "HOME=" + dir}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Error(err)
	}
	t.Logf("%s", out)
}

// CopyProgram copies this test program.
func CopyProgram(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, from); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
