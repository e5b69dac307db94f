package layer

import (
	"archive/tar"
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// decoy is a directory beside the one into which archives are unpacked. No archive may reach it.
type decoy struct {
	path   string
	before []string
}

func newDecoy(t testing.TB, dir string) decoy {
	t.Helper()
	d := decoy{path: filepath.Join(dir, "decoy")}
	for name, text := range map[string]string{"victim": "secret", "sub/inner": "inner"} {
		at := filepath.Join(d.path, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(at, someTime, someTime); err != nil {
			t.Fatal(err)
		}
	}
	d.before = d.state(t)
	return d
}

func (d decoy) state(t testing.TB) []string {
	lines := listing(t, d.path)
	for _, name := range []string{"", "victim", "sub", "sub/inner"} {
		s := statOf(t, filepath.Join(d.path, name))
		lines = append(lines, strings.Join([]string{name, time.Unix(s.Mtim.Unix()).String(), os.FileMode(s.Mode).String()}, " "))
		if s.Nlink > 1 && !isDir(s) {
			lines = append(lines, name+" has other names")
		}
	}
	return lines
}

func (d decoy) check(t testing.TB) {
	t.Helper()
	if diff := cmp.Diff(d.before, d.state(t)); diff != "" {
		t.Errorf("something outside was changed:\n%s", diff)
	}
}

func TestHostileArchivesReachNothingOutside(t *testing.T) {
	out := strings.Repeat("../", 12)
	for name, test := range map[string]struct {
		layers [][]*tar.Header
		// refused is a part of the error; empty if the archive is unpacked and does no harm.
		refused string
	}{
		"a name that leads out":             {[][]*tar.Header{entries("../decoy/new: x")}, "leads out"},
		"a name that leads out later":       {[][]*tar.Header{entries("a/../../decoy/new: x")}, "leads out"},
		"an absolute name":                  {[][]*tar.Header{entries("DECOY/new: x")}, ""},
		"the root as a file":                {[][]*tar.Header{entries(".: x")}, "root directory"},
		"a link out, written through":       {[][]*tar.Header{entries("l -> "+out+"DECOY", "l/victim: changed")}, ""},
		"an absolute link, written through": {[][]*tar.Header{entries("l -> DECOY", "l/new: x", "l/sub/inner: changed")}, ""},
		"a link out, of a lower layer":      {[][]*tar.Header{entries("l -> DECOY"), entries("l/victim: changed", "l/.wh.sub", "l/.wh..wh..opq")}, ""},
		"a link out, as a file":             {[][]*tar.Header{entries("victim -> DECOY/victim", "victim: changed")}, ""},
		"a link out, as a file, above":      {[][]*tar.Header{entries("victim -> DECOY/victim"), entries("victim: changed")}, ""},
		"a link out, as a directory":        {[][]*tar.Header{entries("sub -> DECOY/sub", "sub/")}, ""},
		"a link in the way of a link":       {[][]*tar.Header{entries("a -> "+out, "b -> a/DECOY", "b/new: x")}, ""},
		"links in a circle":                 {[][]*tar.Header{entries("a -> b", "b -> a", "a/x: x")}, "too many levels"},
		"a link to itself above":            {[][]*tar.Header{entries("a -> a"), entries("a/x: x")}, "too many levels"},
		"a hard link out":                   {[][]*tar.Header{entries("h = "+out+"DECOY/victim", "h: changed")}, "leads out"},
		"an absolute hard link":             {[][]*tar.Header{entries("h = DECOY/victim")}, "not in the image"},
		"a hard link through a link":        {[][]*tar.Header{entries("l -> DECOY", "h = l/victim")}, "not in the image"},
		"a hard link to a directory":        {[][]*tar.Header{entries("d/", "h = d")}, "is a directory"},
		"a hard link to itself":             {[][]*tar.Header{entries("h = h", "a: x", "a = a")}, ""},
		"a hard link to the root":           {[][]*tar.Header{entries("h = /")}, "is a directory"},
		"a hard link over what it links":    {[][]*tar.Header{entries("a: x", "b = a", "b = a", "a = b")}, ""},
		"a hard link to a link out, rewritten": {
			[][]*tar.Header{entries("l -> DECOY/victim", "h = l", "h: changed")}, ""},
		"whiteouts of parents":          {[][]*tar.Header{entries("f: x"), entries("d/.wh...")}, "removes no entry"},
		"a whiteout of its directory":   {[][]*tar.Header{entries("f: x"), entries("d/.wh..")}, "removes no entry"},
		"a whiteout of nothing":         {[][]*tar.Header{entries("f: x"), entries(".wh.")}, "removes no entry"},
		"a whiteout out":                {[][]*tar.Header{entries("f: x"), entries("../decoy/.wh.victim")}, "leads out"},
		"a whiteout below a link out":   {[][]*tar.Header{entries("l -> DECOY"), entries("l/.wh.victim")}, ""},
		"an opaque root":                {[][]*tar.Header{entries("f: x"), entries(".wh..wh..opq")}, ""},
		"below a file":                  {[][]*tar.Header{entries("f: x", "f/g: y")}, "not a directory"},
		"below a hard link":             {[][]*tar.Header{entries("f: x"), entries("g = f", "g/h: y")}, "not a directory"},
		"a type that is not known":      {[][]*tar.Header{{entry("x", func(h *tar.Header) { h.Typeflag = 'Z' })}}, "type"},
		"an owner that cannot be":       {[][]*tar.Header{{entry("x", func(h *tar.Header) { h.Uid = math.MaxUint32 })}}, "owner"},
		"a negative owner":              {[][]*tar.Header{{entry("x", func(h *tar.Header) { h.Gid = -5 })}}, "owner"},
		"times far away":                {[][]*tar.Header{{entry("x", func(h *tar.Header) { h.ModTime = time.Unix(1<<40, 0) })}}, ""},
		"times long ago":                {[][]*tar.Header{{entry("x/", func(h *tar.Header) { h.ModTime = impliedTime })}}, ""},
		"a name longer than any file's": {[][]*tar.Header{entries(strings.Repeat("n", 300) + ": x")}, "too long"},
		"a path longer than any":        {[][]*tar.Header{entries(strings.Repeat("d/", 3000) + "f: x")}, "more than 256 directories"},
		"a deep path":                   {[][]*tar.Header{entries(strings.Repeat("d/", 256)+"f: x", "d/.wh.x"), entries(strings.Repeat("d/", 256) + "f: y")}, ""},
		"a path deeper by a link":       {[][]*tar.Header{entries("l -> "+strings.Repeat("d/", 200), strings.Repeat("d/", 200), "l/"+strings.Repeat("e/", 57)+"f: x")}, "more than 256 directories"},
		"a link to a deep path":         {[][]*tar.Header{entries("l -> "+strings.Repeat("d/", 1500), "l/f: x")}, "more than 256 directories"},
		"links one behind another":      {[][]*tar.Header{entries(append(chain(40), "l0/f: x")...)}, ""},
		"links too many":                {[][]*tar.Header{entries(append(chain(41), "l0/f: x")...)}, "too many levels"},
		"a name with a line break":      {[][]*tar.Header{entries("a\nb: x")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, "owner") && !givesAway() {
				t.Skip("this user gives no files away")
			}
			dir := t.TempDir()
			d := newDecoy(t, dir)
			err := build(t, dir, test.layers, d.path)
			switch {
			case test.refused == "" && err != nil:
				t.Errorf("it was refused: %v", err)
			case test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)):
				t.Errorf("error %v, want one with %q", err, test.refused)
			}
			d.check(t)
		})
	}
}

// chain returns so many links, each to the next one, with directories that are missing on the way.
func chain(links int) []string {
	var all []string
	for i := range links {
		all = append(all, fmt.Sprintf("l%d -> %s%s/l%d", i, strings.Repeat("d/", 100), strings.Repeat("../", 99)+"..", i+1))
	}
	return all
}

// build unpacks and merges layers; DECOY in them stands for the path of the decoy.
func build(t testing.TB, dir string, layers [][]*tar.Header, decoy string) error {
	var unpacked []*os.File
	for i, l := range layers {
		for _, h := range l {
			h.Name = strings.ReplaceAll(h.Name, "DECOY", decoy)
			h.Linkname = strings.ReplaceAll(h.Linkname, "DECOY", decoy)
		}
		u, err := unpack(t, dir, "layer"+string(rune('0'+i)), archive(t, l))
		if err != nil {
			return err
		}
		unpacked = append(unpacked, u)
	}
	return Merge(openDir(t, filepath.Join(dir, "tree")), unpacked)
}

func TestOverlayAttributesAreLeftOut(t *testing.T) {
	with := func(name string) func(*tar.Header) {
		return func(h *tar.Header) {
			if h.PAXRecords == nil {
				h.PAXRecords = map[string]string{}
			}
			h.PAXRecords[xattrPrefix+name] = "y"
		}
	}
	tree := image(t, []*tar.Header{
		entry("d/", with("user.overlay.opaque"), with("trusted.overlay.opaque"), with("user.kept")),
		entry("f: x", with("user.overlay.redirect"), with("trusted.overlay.metacopy"), with("user.kept")),
	})
	for _, name := range []string{"d", "f"} {
		list := make([]byte, 4096)
		n, err := unix.Llistxattr(filepath.Join(tree, name), list)
		if err == unix.ENOTSUP {
			t.Skip("this file system has no attributes")
		}
		if got := string(list[:max(n, 0)]); err != nil || got != "user.kept\x00" {
			t.Errorf("%s has the attributes %q, %v", name, got, err)
		}
	}
}

func TestDevicesAreLeftOutAndHideLowerFiles(t *testing.T) {
	char := func(name string) *tar.Header {
		return entry(name, func(h *tar.Header) { h.Typeflag, h.Devmajor = tar.TypeChar, 1 })
	}
	tree := image(t, entries("null: x", "dir/f: x", "zero: x", "sda: x", "f: x"), []*tar.Header{
		char("null"), char("dir"), entry("other = null"), entry("again = other"),
		// In an overlay, a device with the number 0:0 would hide the file.
		entry("zero", func(h *tar.Header) { h.Typeflag = tar.TypeChar }),
		entry("sda", func(h *tar.Header) { h.Typeflag, h.Devmajor = tar.TypeBlock, 8 }),
		entry("own: x"), char("own"), char("new"), entry("new: x"),
	})
	if diff := cmp.Diff([]string{"f: x", "new: x"}, listing(t, tree)); diff != "" {
		t.Error(diff)
	}
}

func TestALayerIsBounded(t *testing.T) {
	data := archive(t, entries("a: 12345", "b: 12345", "c: 12345"))
	for name, o := range map[string]Options{"bytes": {MaxBytes: 14}, "entries": {MaxEntries: 2}} {
		err := Unpack(bytes.NewReader(data), openDir(t, filepath.Join(t.TempDir(), "layer")), o)
		if err == nil || !strings.Contains(err.Error(), "more than") || !strings.Contains(err.Error(), `"c"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A lookup takes as many steps as the texts of its links have elements, whatever is missing on the way.
func TestTheWorkForLinksIsBounded(t *testing.T) {
	data := archive(t, entries(append(chain(40), "l0/f: x")...))
	const steps = 1 + 40*201
	for bound, refused := range map[int]bool{steps: false, steps - 1: true} {
		err := Unpack(bytes.NewReader(data), openDir(t, filepath.Join(t.TempDir(), "layer")), Options{MaxSteps: bound})
		if refused && (err == nil || !strings.Contains(err.Error(), "through more than")) || !refused && err != nil {
			t.Errorf("with at most %d steps: %v", bound, err)
		}
	}
}

func TestWhatALayerHasRememberedIsBounded(t *testing.T) {
	big := func(h *tar.Header) {
		h.PAXRecords = map[string]string{xattrPrefix + "user.big": strings.Repeat("x", 1500)}
	}
	for name, all := range map[string][]*tar.Header{
		"directories":         {entry("a/"), entry("b/"), entry("c/"), entry("d/"), entry("e/"), entry("f/"), entry("g/"), entry("h/"), entry("i/")},
		"implied directories": {entry("a/b/c/d/e/f/g/h/i: x"), entry("j/")},
		"attributes":          {entry("a/", big), entry("b/")},
		"whiteouts":           {entry(".wh.a: x"), entry(".wh.b: x"), entry("c/")},
		"opaque directories":  {entry("a/.wh..wh..opq: x"), entry("b/.wh..wh..opq: x"), entry("c/")},
		"links to below":      {entry("a = x"), entry("b = x"), entry("c/")},
		"devices":             {entry("a", func(h *tar.Header) { h.Typeflag = tar.TypeChar }), entry("b", func(h *tar.Header) { h.Typeflag = tar.TypeChar }), entry("c/")},
	} {
		t.Run(name, func(t *testing.T) {
			for bound, refused := range map[int64]bool{250: true, 5000: false} {
				err := Unpack(bytes.NewReader(archive(t, all)), openDir(t, filepath.Join(t.TempDir(), "layer")), Options{MaxRemembered: bound})
				if refused && (err == nil || !strings.Contains(err.Error(), "take more than")) || !refused && err != nil {
					t.Errorf("with at most %d bytes: %v", bound, err)
				}
			}
		})
	}
}

func TestAnErrorLeavesOutANameThatNoFileCanHave(t *testing.T) {
	err := &EntryError{strings.Repeat("n", 5000), unix.ENAMETOOLONG}
	if want := "an entry whose name has 5000 bytes: file name too long"; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// While any file is renamed, the kernel may refuse a lookup with ".." in it. It has to be tried again.
func TestLookupsGoOnWhileOthersRename(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.Mkdir(a, 0o700); err != nil {
		t.Fatal(err)
	}
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			default:
				_ = os.Rename(a, b)
				_ = os.Rename(b, a)
			}
		}
	}()
	words := []string{"d/e/", "l -> " + strings.Repeat("d/e/../../", 30) + "d"}
	for i := range 500 {
		words = append(words, "l/f: x", "d/e/f"+string(rune('a'+i%26))+": x")
	}
	_, err := unpack(t, dir, "layer", archive(t, entries(words...)))
	close(done)
	<-stopped
	if err != nil {
		t.Error(err)
	}
}
