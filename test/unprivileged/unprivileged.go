// Package unprivileged runs the tests of a package again as a user without rights.
package unprivileged

import (
	"errors"
	"fmt"
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

// Run runs the tests that match a pattern of go test as a user without rights. The user has a copy of testdata, and sees those
// of trees that exist, such as ../../examples, where the package has them.
func Run(t *testing.T, pattern string, trees ...string) {
	t.Helper()
	again(t, pattern, "", trees...)
}

// WithSubordinateIDs is Run for a user who has subordinate ids.
func WithSubordinateIDs(t *testing.T, pattern string, trees ...string) {
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
		"mount -t tmpfs none /run; mkdir -p -m 755 /run/user; mkdir -m 700 /run/user/$0; chown $0 /run/user/$0; ", trees...)
}

// again runs this test program, in a mount namespace that a shell script prepares.
func again(t *testing.T, pattern, prepare string, trees ...string) {
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
	where := filepath.Join(dir, "internal", "package")
	if err := errors.Join(os.MkdirAll(where, 0o755), os.Chown(where, user, user)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("testdata"); err == nil {
		if err := os.CopyFS(filepath.Join(where, "testdata"), os.DirFS("testdata")); err != nil {
			t.Fatal(err)
		}
	}
	for _, tree := range trees {
		if _, err := os.Stat(tree); err == nil {
			prepare += show(t, tree, filepath.Join(where, tree))
		}
	}
	timeout := "0"
	if deadline, ok := t.Deadline(); ok {
		timeout = max(time.Minute, time.Until(deadline)-time.Minute).String()
	}
	args := []string{"--mount", "sh", "-ec", prepare + `exec setpriv --reuid "$0" --regid "$0" --clear-groups "$@"`, strconv.Itoa(user),
		program, "-test.v", "-test.timeout=" + timeout, "-test.run=" + pattern}
	cmd := exec.Command("unshare", args...)
	cmd.Dir = where
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir, "HOME=" + dir}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Error(err)
	}
	t.Logf("%s", out)
}

// show makes a directory, and returns a command that mounts a tree there.
func show(t *testing.T, tree, at string) (command string) {
	t.Helper()
	from, err := filepath.Abs(tree)
	if err == nil {
		err = os.MkdirAll(at, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("mount --bind -o ro '%s' '%s'; ", from, at)
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
