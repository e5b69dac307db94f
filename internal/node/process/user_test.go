package process_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// nobody is a user without any rights.
const nobody = 65534

// TestAsAnUnprivilegedUser runs the tests of this package again as a user without rights.
func TestAsAnUnprivilegedUser(t *testing.T) {
	runAsNobody(t, nil)
}

// TestImagesWithSubordinateIDs runs those tests again that have to do with users, as a user who has subordinate ids.
func TestImagesWithSubordinateIDs(t *testing.T) {
	if _, err := exec.LookPath("newuidmap"); err != nil {
		t.Skip(err)
	}
	ids := filepath.Join(t.TempDir(), "ids")
	write(t, ids, "65534:200000:65536\n")
	// The machine's own files stay as they are.
	script := "mount --bind " + ids + " /etc/subuid && mount --bind " + ids + ` /etc/subgid && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"`
	runAsNobody(t, []string{"unshare", "--mount", "sh", "-ec", script, "sh"}, "-test.run=Image|TerminationMessage|Output|User")
}

// runAsNobody runs tests of this package as another user. Wrapper are words to put before the command; it becomes that user.
func runAsNobody(t *testing.T, wrapper []string, args ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user; without being root all tests are of this kind")
	}
	dir, err := os.MkdirTemp("", "stint-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "process.test")
	copyProgram(t, binary)
	timeout := "-test.timeout=0"
	if deadline, ok := t.Deadline(); ok {
		timeout = "-test.timeout=" + max(time.Minute, time.Until(deadline)-time.Minute).String()
	}
	words := append(wrapper, binary, "-test.v", timeout)
	words = append(words, args...)
	if testing.Short() {
		words = append(words, "-test.short")
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir, "HOME=" + dir}
	if wrapper == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

func copyProgram(t *testing.T, to string) {
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
