// Package images builds images for tests, and serves them from a registry on the loopback interface.
package images

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// File is one file of a layer; without content it is a directory, with a Link a symbolic link.
type File struct {
	Content, Link string
	Mode          int64
	// Owner is its user and its group.
	Owner int
}

// Layer makes a layer of files by their names.
func Layer(t testing.TB, files map[string]File) v1.Layer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, at := range slices.Sorted(maps.Keys(files)) {
		f := files[at]
		h := &tar.Header{Name: at, Mode: f.Mode, Size: int64(len(f.Content)), Typeflag: tar.TypeReg, Linkname: f.Link, Uid: f.Owner, Gid: f.Owner}
		switch {
		case f.Link != "":
			h.Typeflag = tar.TypeSymlink
		case f.Content == "":
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.Content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Image makes an image of layers.
func Image(t testing.TB, config v1.Config, layers ...v1.Layer) v1.Image {
	t.Helper()
	image, err := mutate.AppendLayers(empty.Image, layers...)
	if err != nil {
		t.Fatal(err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	file = file.DeepCopy()
	file.Config, file.OS, file.Architecture = config, "linux", runtime.GOARCH
	if image, err = mutate.ConfigFile(image, file); err != nil {
		t.Fatal(err)
	}
	return image
}

// Busybox returns a layer with busybox and a link to it for each of its commands. Where the machine has no busybox, the
// test is skipped.
func Busybox(t testing.TB) v1.Layer {
	t.Helper()
	at, err := exec.LookPath("busybox")
	if err != nil {
		t.Skip("there is no busybox to make an image of: install busybox-static")
	}
	program, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	list, err := exec.Command(at, "--list").Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]File{"bin/busybox": {Content: string(program), Mode: 0o755}, "tmp": {Mode: 0o1777}}
	for _, name := range strings.Fields(string(list)) {
		if name != "busybox" {
			files["bin/"+name] = File{Link: "busybox"}
		}
	}
	return Layer(t, files)
}

// Serve serves images by the names that they have in the registry, whose host it returns.
func Serve(t testing.TB, images map[string]v1.Image) (host string) {
	t.Helper()
	return ServeBehind(t, images, func(r http.Handler) http.Handler { return r })
}

// ServeBehind is Serve with a handler in front of the registry, such as Login.
func ServeBehind(t testing.TB, images map[string]v1.Image, door func(http.Handler) http.Handler) (host string) {
	t.Helper()
	inside := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	push(t, inside, images)
	server := httptest.NewServer(door(inside))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// Login refuses requests without this user and password.
func Login(user, password string) func(http.Handler) http.Handler {
	return func(inside http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if u, p, _ := r.BasicAuth(); u != user || p != password {
				w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			inside.ServeHTTP(w, r)
		})
	}
}

// Hold makes a registry stop in the middle of blobs of at least size bytes, until the test closes goOn.
func Hold(size int, goOn <-chan struct{}) func(http.Handler) http.Handler {
	return func(inside http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/blobs/") {
				w = &held{ResponseWriter: w, size: size, goOn: goOn, gone: r.Context().Done()}
			}
			inside.ServeHTTP(w, r)
		})
	}
}

// held is a response that stops in the middle.
type held struct {
	http.ResponseWriter
	size int
	goOn <-chan struct{}
	gone <-chan struct{}
	sent int
}

func (h *held) Write(data []byte) (n int, err error) {
	length, _ := strconv.Atoi(h.Header().Get("Content-Length"))
	if left := length/2 - h.sent; length >= h.size && left >= 0 && left < len(data) {
		n, err = h.ResponseWriter.Write(data[:left])
		if err == nil {
			err = http.NewResponseController(h.ResponseWriter).Flush()
		}
		if err != nil {
			return n, err
		}
		select {
		case <-h.goOn:
		case <-h.gone:
		}
	}
	more, err := h.ResponseWriter.Write(data[n:])
	h.sent += n + more
	return n + more, err
}

// Hosts writes a hosts.toml below dir, so that the registry called name is reached at host without TLS.
func Hosts(t testing.TB, dir, name, host string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("server = %q\n", "http://"+host)
	if err := os.WriteFile(filepath.Join(dir, name, "hosts.toml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func push(t testing.TB, inside http.Handler, images map[string]v1.Image) {
	t.Helper()
	server := httptest.NewServer(inside)
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	for at, image := range images {
		ref, err := name.ParseReference(host + "/" + at)
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.Write(ref, image); err != nil {
			t.Fatal(err)
		}
	}
}
