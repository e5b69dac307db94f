package beneath_test

import (
	"context"
	"errors"
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
	if err := beneath.ShareAt(t.Context(), ours, beneath.Share{Group: group}); err != nil {
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
	if err := beneath.ShareAt(t.Context(), link, beneath.Share{Group: uint32(os.Getegid())}); err == nil {
		t.Error("a link was followed")
	}
}

func TestAWritableShareLetsTheGroupReadAndWriteAll(t *testing.T) {
	ours, decoy := place(t)
	group := uint32(os.Getegid())
	write(t, filepath.Join(ours, "sub", "file"))
	if err := os.Symlink(filepath.Join(decoy, "kept"), filepath.Join(ours, "link")); err != nil {
		t.Fatal(err)
	}
	if err := beneath.ShareAt(t.Context(), ours, beneath.Share{Group: group, Write: true}); err != nil {
		t.Fatal(err)
	}
	for path, wanted := range map[string]fs.FileMode{".": fs.ModeDir | fs.ModeSetgid | 0o770, "sub": fs.ModeDir | fs.ModeSetgid | 0o770, "sub/file": 0o660} {
		if _, mode := groupOf(t, filepath.Join(ours, path)); mode != wanted {
			t.Errorf("%s has the mode %v, want %v", path, mode, wanted)
		}
	}
	if _, mode := groupOf(t, filepath.Join(decoy, "kept")); mode != 0o600 {
		t.Errorf("a file outside has the mode %v now", mode)
	}
}

func TestWhatIsSharedAlreadyIsLeftAlone(t *testing.T) {
	ours, _ := place(t)
	file, share := filepath.Join(ours, "file"), beneath.Share{Group: uint32(os.Getegid()), Write: true, OnMismatch: true}
	write(t, file)
	for _, want := range []fs.FileMode{0o660, 0o600} {
		if err := beneath.ShareAt(t.Context(), ours, share); err != nil {
			t.Fatal(err)
		}
		if _, mode := groupOf(t, file); mode != want {
			t.Errorf("the file has the mode %v, want %v", mode, want)
		}
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Containers may change the owner of a volume.
func TestADirectoryOfAnotherUserIsShared(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to give a directory away")
	}
	ours, _ := place(t)
	volume := filepath.Join(ours, "volume")
	write(t, filepath.Join(volume, "file"))
	if err := os.Chown(volume, 1234, 1234); err != nil {
		t.Fatal(err)
	}
	if err := beneath.ShareAt(t.Context(), volume, beneath.Share{Group: 4321}); err != nil {
		t.Fatal(err)
	}
	if got, _ := groupOf(t, filepath.Join(volume, "file")); got != 4321 {
		t.Errorf("its file is of group %d", got)
	}
}

// nest makes so many directories, each in the one before, and returns the path of the first.
func nest(t *testing.T, dir string, levels int) string {
	t.Helper()
	here, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range levels {
		if err := here.Mkdir("d", 0o700); err != nil {
			t.Fatal(err)
		}
		next, err := here.OpenRoot("d")
		here.Close()
		if err != nil {
			t.Fatal(err)
		}
		here = next
	}
	here.Close()
	return filepath.Join(dir, "d")
}

// A walk whose time is quadratic in the depth does not end within the time limit of a test.
func TestDirectoriesOfAnyDepthAreShared(t *testing.T) {
	ours, _ := place(t)
	top := nest(t, ours, 20_000)
	defer func() {
		if err := remove(t, ours, "d"); err != nil {
			t.Error(err)
		}
	}()
	if err := beneath.ShareAt(t.Context(), top, beneath.Share{Group: uint32(os.Getegid()), Write: true}); err != nil {
		t.Fatal(err)
	}
	here, err := os.OpenRoot(ours)
	for level := 0; err == nil; level++ {
		next, opening := here.OpenRoot("d")
		if opening != nil {
			break
		}
		here.Close()
		here = next
		if info, err := here.Stat("."); err != nil || info.Mode().Perm() != 0o770 {
			t.Fatalf("level %d has the mode %v, %v", level, info.Mode(), err)
		}
	}
	here.Close()
}

func TestWhatIsMountedInAVolumeIsNotShared(t *testing.T) {
	ours, decoy := place(t)
	volume := filepath.Join(ours, "volume")
	write(t, filepath.Join(volume, "file"))
	if err := os.Mkdir(filepath.Join(volume, "dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{decoy: "dir", filepath.Join(decoy, "kept"): "file"} {
		point := filepath.Join(volume, to)
		if err := unix.Mount(from, point, "", unix.MS_BIND, ""); err != nil {
			t.Skipf("needs root to mount: %v", err)
		}
		t.Cleanup(func() { _ = unix.Unmount(point, unix.MNT_DETACH) })
	}
	if err := beneath.ShareAt(t.Context(), volume, beneath.Share{Group: 4321, Write: true}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{decoy, filepath.Join(decoy, "kept")} {
		if group, mode := groupOf(t, path); group == 4321 || mode.Perm()&0o070 != 0 {
			t.Errorf("%s is of group %d and has the mode %v", path, group, mode)
		}
	}
}

// OnMismatch would take the volume for one that is shared.
func TestAShareThatWasInterruptedIsDoneAgain(t *testing.T) {
	ours, _ := place(t)
	volume := filepath.Join(ours, "volume")
	write(t, filepath.Join(volume, "file"))
	share := beneath.Share{Group: uint32(os.Getegid()), Write: true, OnMismatch: true}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := beneath.ShareAt(ctx, volume, share); !errors.Is(err, context.Canceled) {
		t.Fatalf("it ended with %v", err)
	}
	if err := beneath.ShareAt(t.Context(), volume, share); err != nil {
		t.Fatal(err)
	}
	if _, mode := groupOf(t, filepath.Join(volume, "file")); mode != 0o660 {
		t.Errorf("the file has the mode %v", mode)
	}
}
