package layer

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The tests run as root, as root of a user namespace with one ID or with manyIDs from firstID on, and as unprivileged.
const unprivileged, firstID, manyIDs = 65534, 100_000, 65_536

// inside is the environment variable that is set when the tests run as another user.
const inside = "STINT_LAYER_TEST_INSIDE"

func TestAllAsOtherUsers(t *testing.T) {
	if os.Getenv(inside) != "" {
		t.Skip("these are the tests of another user")
	}
	oneID := func(host int) []syscall.SysProcIDMap { return []syscall.SysProcIDMap{{HostID: host, Size: 1}} }
	many := []syscall.SysProcIDMap{{HostID: firstID, Size: manyIDs}}
	t.Run("one id", func(t *testing.T) {
		runAll(t, os.Geteuid(), &syscall.SysProcAttr{
			Cloneflags: unix.CLONE_NEWUSER, UidMappings: oneID(os.Geteuid()), GidMappings: oneID(os.Getegid()),
		})
	})
	t.Run("many ids", func(t *testing.T) {
		needRoot(t)
		runAll(t, firstID, &syscall.SysProcAttr{
			Cloneflags: unix.CLONE_NEWUSER, UidMappings: many, GidMappings: many,
			GidMappingsEnableSetgroups: true, Credential: &syscall.Credential{},
		})
	})
	t.Run("no rights", func(t *testing.T) {
		needRoot(t)
		runAll(t, unprivileged, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}})
	})
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("it needs root to become another user")
	}
}

// runAll runs all other tests as that user, in a directory that belongs to it.
func runAll(t *testing.T, user int, who *syscall.SysProcAttr) {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chown(dir, user, -1)); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		shareWithGroup(t, dir)
	}
	// Other users may not be able to reach this program by its path.
	cmd := exec.Command("/proc/self/exe", "-test.skip=WhileOthersRename", "-rapid.nofailfile", "-rapid.checks=10")
	cmd.Env = []string{inside + "=1", "TMPDIR=" + dir}
	cmd.Dir = dir
	cmd.SysProcAttr = who
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Start()
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EINVAL) {
		t.Skipf("this machine has no user namespaces for us: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, said.String())
	}
}

// shareWithGroup gives all new files in a directory a group that the user is not in, and that the user namespaces do not have.
func shareWithGroup(t *testing.T, dir string) {
	t.Helper()
	const otherGroup = 500_000
	if err := errors.Join(os.Chown(dir, -1, otherGroup), os.Chmod(dir, 0o755|os.ModeSetgid)); err != nil {
		t.Fatal(err)
	}
}

// ids returns how many user IDs this user can give files to; 0 if it is not root, not even of a user namespace.
func ids() int {
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil || os.Geteuid() != 0 {
		return 0
	}
	fields := strings.Fields(string(text))
	n, err := strconv.Atoi(fields[2])
	if err != nil {
		return 0
	}
	return n
}

func givesAway() bool { return ids() > 1 }

func TestOwnersThatThisUserDoesNotHaveAreExplained(t *testing.T) {
	if n := ids(); n == 0 || n > manyIDs {
		t.Skip("this user has all ids or gives no files away")
	}
	l := openDir(t, filepath.Join(t.TempDir(), "layer"))
	data := archive(t, []*tar.Header{entry("theirs: x", func(h *tar.Header) { h.Uid = 70_000 })})
	err := Unpack(bytes.NewReader(data), l, Options{Owners: true})
	for _, part := range []string{`"theirs"`, "70000:0", "add subordinate ids for this user in /etc/subuid and /etc/subgid"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want one with %q", err, part)
		}
	}
}

// withMask runs the rest of a test with a umask that restricts the mode of every new file.
func withMask(t *testing.T) {
	t.Helper()
	before := syscall.Umask(0o077)
	t.Cleanup(func() { syscall.Umask(before) })
}

func TestModesAreThoseOfTheArchive(t *testing.T) {
	withMask(t)
	modes := map[string]uint32{
		"set-user": 0o4755, "set-group": 0o2711, "both": 0o6777, "none": 0, "fifo": 0o666,
		"dir": 0o555, "dir/below": 0o644, "shared": 0o3777, "shared/inherits": 0o755, "implied": 0o755, "target": 0o755,
		"dev": 0o755, "etc/hosts": 0o644,
	}
	if os.Geteuid() != 0 {
		modes["dir"] = 0o755 // A user without rights could neither fill nor remove it.
	}
	of := func(name string, kind byte) *tar.Header {
		return entry(name, func(h *tar.Header) { h.Mode, h.Uid, h.Gid, h.Typeflag = int64(modes[name]), 5, 6, kind })
	}
	tree := image(t, []*tar.Header{
		of("set-user", tar.TypeReg), of("set-group", tar.TypeReg), of("both", tar.TypeReg), of("none", tar.TypeReg),
		of("fifo", tar.TypeFifo), of("dir", tar.TypeDir), of("dir/below", tar.TypeReg),
		of("shared", tar.TypeDir), of("shared/inherits", tar.TypeDir), entry("implied/f: x"), entry("l -> target"),
	}, entries("l/f: x"))
	for name, want := range modes {
		if got := statOf(t, filepath.Join(tree, name)).Mode & 0o7777; got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
}

func TestCapabilitiesAreKeptByThoseWhoMaySetThem(t *testing.T) {
	// cap_net_raw=ep, in version 2 of the kernel's format, which has no ID of a user namespace.
	const netRaw = "\x01\x00\x00\x02\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	tree := image(t, []*tar.Header{entry("ping", func(h *tar.Header) {
		h.Uid, h.Mode = 5, 0o755
		h.PAXRecords = map[string]string{xattrPrefix + "security.capability": netRaw}
	})})
	got := make([]byte, 64)
	n, err := unix.Lgetxattr(filepath.Join(tree, "ping"), "security.capability", got)
	switch {
	case errors.Is(err, unix.ENOTSUP):
		t.Skip("this file system has no attributes")
	case os.Geteuid() != 0:
		if !errors.Is(err, unix.ENODATA) {
			t.Errorf("%q, %v", got[:max(n, 0)], err)
		}
	case err != nil || string(got[:n]) != netRaw:
		t.Errorf("%q, %v", got[:max(n, 0)], err)
	}
}

func TestAttributesThatAreRefusedAreExplained(t *testing.T) {
	big := entry("f: x", func(h *tar.Header) {
		h.PAXRecords = map[string]string{xattrPrefix + "user.big": strings.Repeat("x", 65_537), "TEST.content": "x"}
	})
	_, err := unpack(t, t.TempDir(), "layer", archive(t, []*tar.Header{big}))
	if err == nil || !strings.Contains(err.Error(), `"f": set its attribute user.big`) {
		t.Errorf("error %v", err)
	}
}
