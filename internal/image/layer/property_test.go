package layer

import (
	"archive/tar"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// model is a file system as a map of paths: to "/" for a directory, to its content for a file.
type model map[string]string

func (m model) remove(p string) {
	maps.DeleteFunc(m, func(at, _ string) bool { return at == p || strings.HasPrefix(at, p+"/") })
}

func (m model) makeParents(p string) {
	dir := path.Dir(p)
	if dir == "." {
		return
	}
	m.makeParents(dir)
	if m[dir] != "/" {
		m.remove(dir)
		m[dir] = "/"
	}
}

// apply applies a layer: first its whiteouts, then its files.
func (m model) apply(layer []*tar.Header) {
	for _, h := range layer {
		dir, name := path.Split(path.Clean(h.Name))
		dir = path.Clean(dir)
		switch {
		case name == opaqueName:
			maps.DeleteFunc(m, func(at, _ string) bool { return dir == "." || strings.HasPrefix(at, dir+"/") })
		case strings.HasPrefix(name, whiteoutPrefix):
			m.remove(path.Join(dir, strings.TrimPrefix(name, whiteoutPrefix)))
		}
	}
	// Of several entries with one name, the last counts.
	own := model{}
	for _, h := range layer {
		if p := path.Clean(h.Name); !strings.HasPrefix(path.Base(p), whiteoutPrefix) {
			own.put(p, h)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(own)) {
		if own[p] != "/" || m[p] != "/" {
			m.remove(p)
		}
		m[p] = own[p]
	}
}

func (m model) put(p string, h *tar.Header) {
	m.makeParents(p)
	if h.Typeflag == tar.TypeDir && m[p] == "/" {
		return
	}
	m.remove(p)
	m[p] = h.PAXRecords["TEST.content"]
	if h.Typeflag == tar.TypeDir {
		m[p] = "/"
	}
}

func (m model) lines() []string {
	var lines []string
	for p, content := range m {
		if content == "/" {
			lines = append(lines, p+"/")
		} else {
			lines = append(lines, p+": "+content)
		}
	}
	slices.Sort(lines)
	return lines
}

// drawLayer draws entries with few names, so that they collide. No entry is below a file of its own layer, which is an error.
func drawLayer(r *rapid.T, n int) []*tar.Header {
	own := model{}
	var layer []*tar.Header
	for i := range rapid.IntRange(0, 8).Draw(r, "entries") {
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3).Draw(r, "path")
		p := path.Join(names...)
		switch rapid.IntRange(0, 4).Draw(r, "kind") {
		case 0:
			layer = append(layer, entry(path.Join(path.Dir(p), whiteoutPrefix+path.Base(p))))
		case 1:
			layer = append(layer, entry(path.Join(p, opaqueName)))
		case 2:
			if !own.belowFile(p) {
				own[p] = "/"
				layer = append(layer, entry(p+"/"))
			}
		default:
			if !own.belowFile(p) {
				own.remove(p)
				own[p] = "x"
				layer = append(layer, entry(fmt.Sprintf("%s: %d.%d", p, n, i)))
			}
		}
	}
	return layer
}

func (m model) belowFile(p string) bool {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if content, there := m[dir]; there && content != "/" {
			return true
		}
	}
	return false
}

func TestMergedLayersAreLayersAppliedInTurn(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "image")
		if err != nil {
			r.Fatal(err)
		}
		want := model{}
		var unpacked []*os.File
		defer func() {
			for _, l := range unpacked {
				l.Close()
			}
		}()
		for n := range rapid.IntRange(1, 4).Draw(r, "layers") {
			layer := drawLayer(r, n)
			want.apply(layer)
			u, err := unpack(t, dir, fmt.Sprint(n), archive(t, layer))
			if err != nil {
				r.Fatal(err)
			}
			unpacked = append(unpacked, u)
		}
		tree := filepath.Join(dir, "tree")
		dst := openDir(t, tree)
		defer dst.Close()
		if err := Merge(dst, unpacked); err != nil {
			r.Fatal(err)
		}
		copied := filepath.Join(dir, "copied")
		other := openDir(t, copied)
		defer other.Close()
		if err := merge(other, unpacked, onlyWithin(other, unix.EXDEV)); err != nil {
			r.Fatal(err)
		}
		for _, tree := range []string{tree, copied} {
			if diff := cmp.Diff(want.lines(), slices.Sorted(slices.Values(listing(t, tree)))); diff != "" {
				r.Error(diff)
			}
		}
	})
}

// FuzzUnpack unpacks and merges two layers of any bytes: nothing outside may be reached, and nothing may hang.
func FuzzUnpack(f *testing.F) {
	f.Add(archive(f, entries("d/", "d/f: x", "l -> d", "h = d/f")), archive(f, entries("l/g: y", ".wh.d", "d/.wh..wh..opq")))
	f.Add(archive(f, entries("l -> ../decoy")), archive(f, entries("l/victim: x", "l/.wh.sub", "h = l/victim")))
	f.Add(archive(f, entries("a -> b", "b -> /a")), archive(f, entries("../decoy/victim: x")))
	f.Add([]byte("no archive"), []byte{})
	odd := entry("odd", func(h *tar.Header) {
		h.Mode, h.PAXRecords = 0o7000, map[string]string{xattrPrefix + "user.a": "b", xattrPrefix + "security.capability": "none"}
	})
	device := entry("d/f", func(h *tar.Header) { h.Typeflag = tar.TypeChar })
	fifo := entry("f", func(h *tar.Header) { h.Typeflag = tar.TypeFifo })
	f.Add(archive(f, entries("d/f: x", "f: y", "l -> d/../../decoy")), archive(f, []*tar.Header{device, entry("g = d/f"), fifo, odd}))
	f.Add(archive(f, entries("f: x", "d/")), archive(f, entries("g = f", "d/g = g", "g -> ../decoy", "d = f", "\xff%: z", ".wh.\xff%")))
	f.Fuzz(func(t *testing.T, lower, upper []byte) {
		dir := t.TempDir()
		d := newDecoy(t, dir)
		defer d.check(t)
		var unpacked []*os.File
		for i, data := range [][]byte{lower, upper} {
			l := openDir(t, filepath.Join(dir, fmt.Sprint(i)))
			if Unpack(bytes.NewReader(data), l, Options{MaxBytes: 1 << 20, MaxEntries: 1000}) != nil {
				return
			}
			unpacked = append(unpacked, l)
		}
		_ = Merge(openDir(t, filepath.Join(dir, "tree")), unpacked)
		copied := openDir(t, filepath.Join(dir, "copied"))
		_ = merge(copied, unpacked, onlyWithin(copied, unix.EXDEV))
	})
}

// BenchmarkUnpack unpacks and merges a layer of many small files.
func BenchmarkUnpack(b *testing.B) {
	var all []*tar.Header
	for i := range 5_000 {
		if i%50 == 0 {
			all = append(all, entry(fmt.Sprintf("usr/lib/d%d/", i/50)))
		}
		all = append(all, entry(fmt.Sprintf("usr/lib/d%d/f%d: content", i/50, i)))
	}
	data := archive(b, all)
	b.ResetTimer()
	for i := range b.N {
		dir := b.TempDir()
		l, err := unpack(b, dir, "layer", data)
		if err != nil {
			b.Fatal(err)
		}
		if err := Merge(openDir(b, filepath.Join(dir, fmt.Sprint(i))), []*os.File{l}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(all)*b.N)/b.Elapsed().Seconds(), "entries/s")
}
