package layer

import (
	"archive/tar"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestLayersAreMerged(t *testing.T) {
	for name, test := range map[string]struct {
		layers [][]*tar.Header
		want   []string
	}{
		"one layer": {
			[][]*tar.Header{entries("a/", "a/f: text", "l -> a/f", "/abs: x", "./dot: y")},
			[]string{"a/", "a/f: text", "abs: x", "dot: y", "l -> a/f"},
		},
		"a file over a file": {
			[][]*tar.Header{entries("f: old", "g: g"), entries("f: new")},
			[]string{"f: new", "g: g"},
		},
		"a file over a directory and the reverse": {
			[][]*tar.Header{entries("d/", "d/f: x", "e: y"), entries("d: now a file", "e/", "e/g: z")},
			[]string{"d: now a file", "e/", "e/g: z"},
		},
		"a directory over a link": {
			[][]*tar.Header{entries("real/", "real/f: x", "d -> real"), entries("d/", "d/g: y")},
			[]string{"d/", "d/g: y", "real/", "real/f: x"},
		},
		"whiteouts take from lower layers alone, wherever they stand": {
			[][]*tar.Header{
				entries("d/", "d/f: old", "d/g: old", "e/", "e/x: x", "h: h"),
				entries("d/.wh.f", "d/f: new", "d/g: new", "d/.wh.g", ".wh.e", ".wh.h", ".wh.not-there", "no/.wh.such"),
			},
			[]string{"d/", "d/f: new", "d/g: new"},
		},
		"an opaque directory": {
			[][]*tar.Header{entries("d/", "d/f: old", "d/s/", "d/s/x: x"), entries("d/", "d/g: new", "d/.wh..wh..opq")},
			[]string{"d/", "d/g: new"},
		},
		"below a link of a lower layer": {
			[][]*tar.Header{entries("usr/", "usr/lib/", "usr/lib/a: a", "lib -> usr/lib", "abs -> /usr/lib"), entries("lib/x: x", "abs/deep/y: y")},
			[]string{"abs -> /usr/lib", "lib -> usr/lib", "usr/", "usr/lib/", "usr/lib/a: a", "usr/lib/deep/", "usr/lib/deep/y: y", "usr/lib/x: x"},
		},
		"below a link of the same layer": {
			[][]*tar.Header{entries("lib -> usr/lib", "lib/x: x", "usr/lib/y: y")},
			[]string{"lib -> usr/lib", "usr/", "usr/lib/", "usr/lib/x: x", "usr/lib/y: y"},
		},
		"removed below a link": {
			[][]*tar.Header{entries("usr/lib/a: a", "usr/lib/b: b", "lib -> usr/lib"), entries("lib/.wh.a")},
			[]string{"lib -> usr/lib", "usr/", "usr/lib/", "usr/lib/b: b"},
		},
		"duplicates: the last one is what there is": {
			[][]*tar.Header{entries("f: 1", "f: 2", "d/", "d/x: x", "d: file", "l -> a", "l -> b")},
			[]string{"d: file", "f: 2", "l -> b"},
		},
		"a hard link to a lower layer": {
			[][]*tar.Header{entries("f: text"), entries("g = f", "d/h = /f")},
			[]string{"d/", "d/h: text", "f: text", "g: text"},
		},
		"a hard link that comes before its target": {
			[][]*tar.Header{entries("g = f", "f: text")},
			[]string{"f: text", "g: text"},
		},
		"hard links to lower layers that are replaced": {
			[][]*tar.Header{entries("f: text"), entries("g = f", "d/h = f", "i = f", "g: new", "d: file", "i/", "k = f", "k = f", "l = k")},
			[]string{"d: file", "f: text", "g: new", "i/", "k: text", "l: text"},
		},
		"names that are no text": {
			[][]*tar.Header{entries("\xff%/f\n: x", "a%41: x", "g: x"), entries("\xff%/.wh.f\n", ".wh.a%41", "\xfe = g")},
			[]string{"g: x", "\xfe: x", "\xff%/"},
		},
		"old bookkeeping": {
			[][]*tar.Header{entries("f: x", ".wh..wh.aufs", ".wh..wh.plnk/", ".wh..wh.orph/")},
			[]string{"f: x"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, listing(t, image(t, test.layers...))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatContainersGetMountedOverIsThere(t *testing.T) {
	tree := image(t, entries("dev -> /tmp", "proc: a file", "etc -> /config", "config/hosts -> /nowhere", "config/resolv.conf: mine"))
	for _, p := range mountedDirs {
		if s := statOf(t, filepath.Join(tree, p)); !isDir(s) {
			t.Errorf("/%s has mode %o", p, s.Mode)
		}
	}
	for _, p := range []string{"config/hosts", "config/hostname", "config/resolv.conf"} {
		if s := statOf(t, filepath.Join(tree, p)); s.Mode&unix.S_IFMT != unix.S_IFREG {
			t.Errorf("/%s has mode %o", p, s.Mode)
		}
	}
}

func TestFilesAreSharedAndDirectoriesKeepTheirAttributes(t *testing.T) {
	owner := func(uid int) func(*tar.Header) {
		return func(h *tar.Header) { h.Uid, h.Gid = uid, uid+1 }
	}
	mode := func(mode int64) func(*tar.Header) { return func(h *tar.Header) { h.Mode = mode } }
	shut := int64(0o500)
	if os.Geteuid() != 0 {
		shut = 0o700 // Without root, not even in a user namespace, the test could not write into the directory.
	}
	dir := t.TempDir()
	lower, err := unpack(t, dir, "lower", archive(t, []*tar.Header{
		entry("d/", mode(0o2775), owner(7)), entry("d/f: text", mode(0o4750), owner(8)), entry("d/g = d/f"),
		entry("closed/", mode(shut)), entry("closed/f: x", mode(0)),
	}))
	if err != nil {
		t.Fatal(err)
	}
	// The upper layer has no entries for the directories d and closed themselves.
	upper, err := unpack(t, dir, "upper", archive(t, entries("d/new: x", "closed/new: y")))
	if err != nil {
		t.Fatal(err)
	}
	tree := filepath.Join(dir, "tree")
	if err := Merge(openDir(t, tree), []*os.File{lower, upper}); err != nil {
		t.Fatal(err)
	}
	f, g := statOf(t, filepath.Join(tree, "d/f")), statOf(t, filepath.Join(tree, "d/g"))
	if stored := statOf(t, filepath.Join(lower.Name(), treeName, "d/f")); f.Ino != stored.Ino || f.Ino != g.Ino || f.Nlink != 4 {
		t.Errorf("d/f and d/g: inodes %d, %d, in the layer %d; %d links", f.Ino, g.Ino, stored.Ino, f.Nlink)
	}
	d, closed := statOf(t, filepath.Join(tree, "d")), statOf(t, filepath.Join(tree, "closed"))
	if f.Mode&0o7777 != 0o4750 || d.Mode&0o7777 != 0o2775 || closed.Mode&0o7777 != uint32(shut) {
		t.Errorf("modes %o, %o, %o", f.Mode, d.Mode, closed.Mode)
	}
	for name, s := range map[string]unix.Stat_t{"d": d, "closed": closed, "d/f": f} {
		if s.Mtim.Sec != someTime.Unix() {
			t.Errorf("%s was changed at %d", name, s.Mtim.Sec)
		}
	}
	if givesAway() && (f.Uid != 8 || f.Gid != 9 || d.Uid != 7 || d.Gid != 8) {
		t.Errorf("owners: d/f %d:%d, d %d:%d", f.Uid, f.Gid, d.Uid, d.Gid)
	}
}

func TestALayerThatWasNotUnpackedWholeIsNotMerged(t *testing.T) {
	dir := t.TempDir()
	whole := archive(t, entries("f: text", "g: more"))
	l, err := unpack(t, dir, "layer", whole[:len(whole)-3000])
	if err == nil {
		t.Fatal("half of an archive was unpacked")
	}
	if err := Merge(openDir(t, filepath.Join(dir, "tree")), []*os.File{l}); err == nil {
		t.Error("and merged")
	}
}
