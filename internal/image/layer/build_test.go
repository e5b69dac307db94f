package layer

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// someTime is the modification time of files in test archives.
var someTime = time.Unix(1_700_000_000, 0)

// entry is an entry of a test archive: "dir/" is a directory, "a -> b" a symbolic link, "a = b" a hard link, "a: text" a file.
func entry(words string, change ...func(*tar.Header)) *tar.Header {
	h := &tar.Header{Mode: 0o644, ModTime: someTime, Format: tar.FormatPAX}
	if name, target, ok := strings.Cut(words, " -> "); ok {
		h.Name, h.Linkname, h.Typeflag = name, target, tar.TypeSymlink
	} else if name, target, ok := strings.Cut(words, " = "); ok {
		h.Name, h.Linkname, h.Typeflag = name, target, tar.TypeLink
	} else if name, text, ok := strings.Cut(words, ": "); ok {
		h.Name, h.Typeflag, h.Size = name, tar.TypeReg, int64(len(text))
		h.PAXRecords = map[string]string{"TEST.content": text}
	} else if strings.HasSuffix(words, "/") {
		h.Name, h.Typeflag, h.Mode = words, tar.TypeDir, 0o755
	} else {
		h.Name, h.Typeflag = words, tar.TypeReg
	}
	for _, c := range change {
		c(h)
	}
	return h
}

// entries are the entries of a test archive, in the notation of entry.
func entries(words ...string) []*tar.Header {
	var all []*tar.Header
	for _, w := range words {
		all = append(all, entry(w))
	}
	return all
}

func archive(t testing.TB, all []*tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range all {
		content := h.PAXRecords["TEST.content"]
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func openDir(t testing.TB, path string) *os.File {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

// unpack unpacks an archive into a new directory below dir.
func unpack(t testing.TB, dir, name string, data []byte) (*os.File, error) {
	t.Helper()
	l := openDir(t, filepath.Join(dir, name))
	return l, Unpack(bytes.NewReader(data), l, Options{Owners: givesAway()})
}

// image merges layers and returns the path of the tree.
func image(t testing.TB, layers ...[]*tar.Header) string {
	t.Helper()
	dir := t.TempDir()
	var unpacked []*os.File
	for i, l := range layers {
		u, err := unpack(t, dir, fmt.Sprint("layer", i), archive(t, l))
		if err != nil {
			t.Fatal(err)
		}
		unpacked = append(unpacked, u)
	}
	tree := filepath.Join(dir, "image")
	if err := Merge(openDir(t, tree), unpacked); err != nil {
		t.Fatal(err)
	}
	return tree
}

// listing returns what is in a tree, one line for each file, in the notation of entry. Mount points, which Merge adds, are
// left out.
func listing(t testing.TB, tree string) []string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(tree, p)
		if err != nil || name == "." || isMountPoint(name) {
			return err
		}
		switch d.Type() {
		case fs.ModeDir:
			lines = append(lines, name+"/")
		case fs.ModeSymlink:
			target, err := os.Readlink(p)
			lines = append(lines, name+" -> "+target)
			return err
		case 0:
			text, err := os.ReadFile(p)
			lines = append(lines, name+": "+string(text))
			return err
		default:
			lines = append(lines, name+" "+d.Type().String())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func isMountPoint(name string) bool {
	for _, p := range append(append([]string{"etc"}, mountedDirs...), mountedFiles...) {
		if name == p {
			return true
		}
	}
	return false
}

func statOf(t testing.TB, path string) unix.Stat_t {
	t.Helper()
	var s unix.Stat_t
	if err := unix.Lstat(path, &s); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return s
}
