package layer

import (
	"archive/tar"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// onlyWithin links files within a tree, and fails with err for files outside of it.
func onlyWithin(tree *os.File, err error) linking {
	return func(from *os.File, name string, to *os.File, as string) error {
		at, readErr := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", from.Fd()))
		if readErr != nil {
			return readErr
		}
		if at != tree.Name() && !strings.HasPrefix(at, tree.Name()+"/") {
			return err
		}
		return linkat(from, name, to, as)
	}
}

// details returns the attributes of files, one line each, with the first name of the same file.
func details(t *testing.T, tree string) []string {
	t.Helper()
	names := map[uint64]string{}
	var lines []string
	err := filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(tree, p)
		if err != nil || relErr != nil || name == "." || isMountPoint(name) {
			return err
		}
		s := statOf(t, p)
		if names[s.Ino] == "" {
			names[s.Ino] = name
		}
		xattrs := map[string]string{}
		if d.Type() == 0 || d.IsDir() {
			f, err := os.Open(p)
			if err != nil {
				return err
			}
			defer f.Close()
			if xattrs, err = readXattrs(int(f.Fd())); err != nil {
				return err
			}
		}
		lines = append(lines, fmt.Sprintf("%s %o %d:%d %d %q = %s", name, s.Mode, s.Uid, s.Gid, s.Mtim.Nano(), xattrs, names[s.Ino]))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func copiedLayers(t *testing.T) []*os.File {
	t.Helper()
	with := func(mode int64, kind byte) func(*tar.Header) {
		return func(h *tar.Header) {
			h.Mode, h.Uid, h.Gid, h.Typeflag = mode, 5, 6, kind
			if kind != tar.TypeSymlink {
				h.PAXRecords = map[string]string{xattrPrefix + "user.a": "b", "TEST.content": h.PAXRecords["TEST.content"]}
			}
		}
	}
	dir := t.TempDir()
	var layers []*os.File
	for i, l := range [][]*tar.Header{
		{entry("d/", with(0o1755, tar.TypeDir)), entry("old: x"), entry("d/f: lower"), entry("low: x"), entry("l -> d")},
		{
			entry("s: text", with(0o4750, tar.TypeReg)), entry("same = s"), entry("l/same = s"), entry("d/f: new"), entry("d/g = d/f"),
			entry("link -> s", with(0o777, tar.TypeSymlink)), entry("same-link = link"), entry("p", with(0o620, tar.TypeFifo)),
			entry("high = low"), entry("l/high = low"), entry(".wh.old"),
		},
	} {
		u, err := unpack(t, dir, fmt.Sprint(i), archive(t, l))
		if err != nil {
			t.Fatal(err)
		}
		layers = append(layers, u)
	}
	return layers
}

func TestFilesThatCannotBeLinkedAreCopiedAsTheyAre(t *testing.T) {
	layers := copiedLayers(t)
	linked := openDir(t, filepath.Join(t.TempDir(), "tree"))
	if err := Merge(linked, layers); err != nil {
		t.Fatal(err)
	}
	for _, fails := range []error{unix.EMLINK, unix.EXDEV, unix.EPERM, unix.ENOTSUP} {
		dst := openDir(t, filepath.Join(t.TempDir(), "tree"))
		if err := merge(dst, layers, onlyWithin(dst, fails)); err != nil {
			t.Fatal(fails, err)
		}
		if diff := cmp.Diff(details(t, linked.Name()), details(t, dst.Name())); diff != "" {
			t.Errorf("%v:\n%s", fails, diff)
		}
		if a, b := statOf(t, filepath.Join(linked.Name(), "s")), statOf(t, filepath.Join(dst.Name(), "s")); a.Ino == b.Ino {
			t.Error("it was linked")
		}
	}
}

func TestFilesAreCopiedWhereThereAreNoLinksAtAll(t *testing.T) {
	dst := openDir(t, filepath.Join(t.TempDir(), "tree"))
	err := merge(dst, copiedLayers(t), func(*os.File, string, *os.File, string) error { return unix.EPERM })
	if err != nil {
		t.Fatal(err)
	}
	if s := statOf(t, filepath.Join(dst.Name(), "same")); s.Nlink != 1 || s.Mode&0o7777 != 0o4750 {
		t.Errorf("%d links, mode %o", s.Nlink, s.Mode)
	}
}

func TestLayersAreMergedIntoAnotherFileSystem(t *testing.T) {
	base, err := os.MkdirTemp("/dev/shm", "stint-layer-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	layers := copiedLayers(t)
	if a, b := statOf(t, base), statOf(t, layers[0].Name()); a.Dev == b.Dev {
		t.Skip("this machine has one file system")
	}
	linked := openDir(t, filepath.Join(t.TempDir(), "tree"))
	copied := openDir(t, filepath.Join(base, "tree"))
	for _, dst := range []*os.File{linked, copied} {
		if err := Merge(dst, layers); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(listing(t, linked.Name()), listing(t, copied.Name())); diff != "" {
		t.Error(diff)
	}
	if s := statOf(t, filepath.Join(copied.Name(), "same")); s.Nlink != 3 || s.Mode&0o7777 != 0o4750 {
		t.Errorf("%d links, mode %o", s.Nlink, s.Mode)
	}
}
