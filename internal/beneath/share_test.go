package beneath_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/beneath"
)

func groupOf(t *testing.T, path string) (group uint32, mode fs.FileMode) {
	t.Helper()
	var stat unix.Stat_t
	if err := unix.Lstat(path, &stat); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return stat.Gid, info.Mode()
}

func TestShareGivesAllThatIsInADirectoryAndNothingElse(t *testing.T) {
	ours, decoy := place(t)
	group := uint32(os.Getegid())
	if os.Geteuid() == 0 {
		group = 54321
	}
	write(t, filepath.Join(ours, "sub", "file"))
	for name, target := range map[string]string{"out": decoy, "up": "../decoy", "file": filepath.Join(decoy, "kept")} {
		if err := os.Symlink(target, filepath.Join(ours, name)); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := groupOf(t, decoy)
	if err := beneath.SetGroup(ours, group); err != nil {
		t.Fatal(err)
	}
	for path, wanted := range map[string]fs.FileMode{".": fs.ModeDir | fs.ModeSetgid | 0o700, "sub": fs.ModeDir | fs.ModeSetgid | 0o700, "sub/file": 0o600} {
		if got, mode := groupOf(t, filepath.Join(ours, path)); got != group || mode != wanted {
			t.Errorf("%s is of group %d and has the mode %v, want %d and %v", path, got, mode, group, wanted)
		}
	}
	for _, path := range []string{decoy, filepath.Join(decoy, "kept")} {
		if got, mode := groupOf(t, path); got != before || mode&fs.ModeSetgid != 0 {
			t.Errorf("%s is of group %d now and has the mode %v", path, got, mode)
		}
	}
}

func TestShareTakesNoLinkForADirectory(t *testing.T) {
	ours, decoy := place(t)
	link := filepath.Join(ours, "link")
	if err := os.Symlink(decoy, link); err != nil {
		t.Fatal(err)
	}
	if err := beneath.SetGroup(link, uint32(os.Getegid())); err == nil {
		t.Error("a link was followed")
	}
}
