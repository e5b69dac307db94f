package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/klauspost/compress/zstd"

	"github.com/stint-dev/stint/internal/image/archive"
	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/test/images"
	"github.com/stint-dev/stint/test/unprivileged"
)

func TestMain(m *testing.M) {
	if handled, code := store.ChildMain(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func TestWithoutRoot(t *testing.T) { unprivileged.Run(t, ".") }

// file is a file of a test archive; with a link, only that.
type file struct{ name, content, link string }

// write writes an archive, compressed by compress unless that is nil.
func write(t *testing.T, files []file, compress func(io.Writer) io.WriteCloser) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "archive")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	to := io.WriteCloser(out)
	if compress != nil {
		to = compress(out)
		defer to.Close()
	}
	w := tar.NewWriter(to)
	defer w.Close()
	for _, f := range files {
		h := &tar.Header{Name: f.name, Size: int64(len(f.content)), Typeflag: tar.TypeReg, Linkname: f.link}
		if f.link != "" {
			h.Typeflag = tar.TypeSymlink
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.content); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func zipped(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }

func zstandard(w io.Writer) io.WriteCloser {
	z, err := zstd.NewWriter(w)
	if err != nil {
		panic(err)
	}
	return z
}

// unwritten returns the files of an archive.
func unwritten(t *testing.T, path string) []file {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var all []file
	for r := tar.NewReader(in); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file{h.Name, string(content), h.Linkname})
	}
}

func testImage(t *testing.T) v1.Image {
	one := images.Layer(t, map[string]images.File{"one": {Content: "1", Mode: 0o644}})
	two := images.Layer(t, map[string]images.File{"two": {Content: "2", Mode: 0o644}})
	return images.Image(t, v1.Config{User: "7"}, one, two)
}

// docker returns the files that docker save writes for an image.
func docker(t *testing.T) []file {
	t.Helper()
	tag, err := name.NewTag("worker:1")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "docker.tar")
	if err := tarball.WriteToFile(path, tag, testImage(t)); err != nil {
		t.Fatal(err)
	}
	return unwritten(t, path)
}

// layoutDir makes an OCI layout whose index leads to the image by so many indexes more.
func layoutDir(t *testing.T, indexes int) string {
	t.Helper()
	dir := t.TempDir()
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	named := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": "worker:1"})
	if indexes == 0 {
		err = path.AppendImage(testImage(t), named)
	} else {
		below := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: testImage(t)})
		for range indexes - 1 {
			below = mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: below})
		}
		err = path.AppendIndex(below, named)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// filesIn returns the files of a directory as those of an archive.
func filesIn(t *testing.T, dir string) []file {
	t.Helper()
	var all []file
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		inside, _ := filepath.Rel(dir, path)
		all = append(all, file{name: inside, content: string(content)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// load adds the images of a file to a new store.
func load(t *testing.T, path string) (*store.Store, []store.Image, error) {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var added []store.Image
	err = archive.Read(t.Context(), s, path, func(i archive.Image) error {
		names, err := i.FullNames()
		if err != nil {
			return err
		}
		for _, n := range names {
			image, err := s.Add(t.Context(), n, i.Source, nil)
			if err != nil {
				return err
			}
			added = append(added, image)
		}
		return nil
	})
	if left, globErr := filepath.Glob(filepath.Join(dir, "work", "archive.*")); globErr != nil || len(left) > 0 {
		t.Errorf("left in work: %v, %v", left, globErr)
	}
	return s, added, err
}

func TestImagesAreReadFromAllKindsOfFiles(t *testing.T) {
	saved, dir := docker(t), layoutDir(t, 0)
	linked := []file{{name: "layers/old", link: "../moved"}, {name: "moved", link: "./moved.tar"}}
	for _, f := range saved {
		if strings.HasSuffix(f.name, ".tar.gz") && len(linked) == 2 {
			saved = slices.Clone(saved)
			i := slices.Index(saved, f)
			m := slices.IndexFunc(saved, func(f file) bool { return f.name == "manifest.json" })
			saved[m].content = strings.Replace(saved[m].content, f.name, "layers/old", 1)
			linked = append(linked, file{name: "moved.tar", content: f.content})
			saved = slices.Delete(saved, i, i+1)
		}
	}
	for name, path := range map[string]string{
		"docker save":                write(t, docker(t), nil),
		"docker save, gzip":          write(t, docker(t), zipped),
		"docker save, zstd":          write(t, docker(t), zstandard),
		"docker save, with links":    write(t, append(linked, saved...), nil),
		"an OCI layout":              dir,
		"an OCI archive":             write(t, filesIn(t, dir), nil),
		"an OCI archive, gzip":       write(t, filesIn(t, dir), zipped),
		"an OCI layout with indexes": layoutDir(t, 3),
		"indexes in an OCI archive":  write(t, filesIn(t, layoutDir(t, 2)), nil),
	} {
		t.Run(name, func(t *testing.T) {
			s, added, err := load(t, path)
			if err != nil || len(added) != 1 || added[0].Name != "docker.io/library/worker:1" || added[0].Digest.Hex == "" || added[0].Size == 0 {
				t.Fatalf("added %+v, %v", added, err)
			}
			for name, want := range map[string]string{"one": "1", "two": "2"} {
				if text, err := os.ReadFile(filepath.Join(s.Tree(added[0]), name)); err != nil || string(text) != want {
					t.Errorf("%s holds %q, %v", name, text, err)
				}
			}
			if config, err := s.Config(added[0]); err != nil || config.Config.User != "7" {
				t.Errorf("the config is %+v, %v", config, err)
			}
		})
	}
}

// with returns files, one of them with other content.
func with(files []file, name string, change func(string) string) []file {
	files = slices.Clone(files)
	i := slices.IndexFunc(files, func(f file) bool { return strings.HasPrefix(f.name, name) })
	files[i].content = change(files[i].content)
	return files
}

func TestHostileFilesAreRefused(t *testing.T) {
	is := func(content string) func(string) string { return func(string) string { return content } }
	long := strings.Repeat(" ", 4<<20+1)
	many := make([]file, 10_001)
	for i := range many {
		many[i].name = fmt.Sprint(i)
	}
	var named []file
	for i := range 30 {
		named = append(named, file{name: strings.Repeat("n", 40_000) + fmt.Sprint(i)})
	}
	chain := []file{{name: "manifest.json", link: "0"}}
	for i := range 40 {
		chain = append(chain, file{name: fmt.Sprint(i), link: fmt.Sprint(i + 1)})
	}
	tags := `[{"Config":"c","RepoTags":["a` + strings.Repeat(`","a`, 1000) + `"]}]`
	oci := filesIn(t, layoutDir(t, 0))
	manifest := oci[slices.IndexFunc(oci, func(f file) bool { return strings.Contains(f.content, `"layers":[`) })].name
	for name, test := range map[string]struct {
		files   []file
		refused string
	}{
		"a large manifest":          {with(docker(t), "manifest.json", is(long)), "manifest.json: it has more than 4 MiB"},
		"a manifest of many images": {with(docker(t), "manifest.json", is("["+strings.Repeat("{},", 20_001)+"{}]")), "manifest.json: it has more than 20000 values"},
		"a manifest of no image":    {with(docker(t), "manifest.json", is("[]")), "manifest.json names no image"},
		"a large config":            {with(docker(t), "sha256:", is(long)), "it has more than 4 MiB"},
		"a config of many values":   {with(docker(t), "sha256:", is(`{"history":[`+strings.Repeat("{},", 20_001)+"{}]}")), "it has more than 20000 values"},
		"a large index":             {with(oci, "index.json", is(long)), "index.json: it has more than 4 MiB"},
		"an index of many images":   {with(oci, "index.json", is(`{"manifests":[`+strings.Repeat("{},", 1000)+"{}]}")), "more than 1000 images"},
		"another manifest":          {with(oci, manifest, is("{}")), "has the digest"},
		"many indexes":              {filesIn(t, layoutDir(t, 4)), "nested too deeply"},
		"many files":                {many, "more than 10000 files: save fewer"},
		"many bytes of names":       {named, "more than 1048576 bytes: save fewer"},
		"many names of an image":    {with(docker(t), "manifest.json", is(tags)), "more than 1000 names"},
		"many links":                {chain, "more than 40 links"},
		"links in a circle":         {[]file{{name: "manifest.json", link: "manifest.json"}}, "more than 40 links"},
		"a link out":                {[]file{{name: "manifest.json", link: "../../../etc/passwd"}}, "has no file"},
		"another archive":           {[]file{{name: "x", content: "y"}}, "neither a manifest.json"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, compress := range []func(io.Writer) io.WriteCloser{nil, zipped} {
				if _, _, err := load(t, write(t, test.files, compress)); err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Errorf("error %v, want one with %q", err, test.refused)
				}
			}
		})
	}
}

func TestAnArchiveIsAnArchive(t *testing.T) {
	var sparse bytes.Buffer
	w := tar.NewWriter(&sparse)
	if err := w.WriteHeader(&tar.Header{Name: "manifest.json", Size: 4, Typeflag: tar.TypeReg, Format: tar.FormatPAX, PAXRecords: map[string]string{"comment": "123456789"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("[{}]")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	holes := bytes.Replace(sparse.Bytes(), []byte("comment=123456789"), []byte("GNU.sparse.name=x"), 1)
	for name, test := range map[string]struct {
		data    []byte
		refused string
	}{
		"nothing":      {nil, "neither a manifest.json"},
		"text":         {[]byte(strings.Repeat("text", 500)), "it is not an image archive"},
		"half a gzip":  {[]byte{0x1f, 0x8b, 8}, "it is not an image archive"},
		"half a file":  {sparse.Bytes()[:1300], "it is not an image archive"},
		"sparse files": {holes, "sparse files: write it without them"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "archive")
			if err := os.WriteFile(path, test.data, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := load(t, path); err == nil || !strings.Contains(err.Error(), test.refused) {
				t.Errorf("error %v, want one with %q", err, test.refused)
			}
		})
	}
}
