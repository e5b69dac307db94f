package pull_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/stint-dev/stint/internal/image/pull"
	"github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/image/registry/credentials"
	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/test/images"
)

func TestMain(m *testing.M) {
	if handled, code := store.ChildMain(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func open(t *testing.T) (*store.Store, string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("images are unpacked by root so far")
	}
	dir := filepath.Join(t.TempDir(), "store")
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

// client has no logins, and does not wait between its tries.
func client(hosts ...string) *registry.Client {
	return registry.New(registry.Config{HostsDirs: hosts, Wait: func(context.Context, time.Duration) error { return nil }})
}

func parse(t *testing.T, name string) registry.Reference {
	t.Helper()
	ref, err := registry.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// noise is a layer that does not get smaller by compression.
func noise(t *testing.T) v1.Layer {
	t.Helper()
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = byte(rand.Uint32())
	}
	return images.Layer(t, map[string]images.File{"noise": {Content: string(text), Mode: 0o644}})
}

// breaking is a registry that ends the connection in the middle of a blob larger than limit, and has no blobs after that, until
// whole is set. It counts the bytes of blobs that it sends.
type breaking struct {
	inside http.Handler
	limit  int64
	broken atomic.Bool
	whole  atomic.Bool
	sent   atomic.Int64
}

func (b *breaking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(r.URL.Path, "/blobs/") {
		b.inside.ServeHTTP(w, r)
		return
	}
	if b.broken.Load() && !b.whole.Load() {
		http.NotFound(w, r)
		return
	}
	b.inside.ServeHTTP(&pipe{ResponseWriter: w, from: b}, r)
}

// pipe is a response of a breaking registry.
type pipe struct {
	http.ResponseWriter
	from *breaking
}

func (p *pipe) Write(data []byte) (int, error) {
	size, _ := strconv.ParseInt(p.Header().Get("Content-Length"), 10, 64)
	if !p.from.whole.Load() && size > p.from.limit {
		data = data[:min(int64(len(data)), p.from.limit)]
		p.from.broken.Store(true)
	}
	p.from.sent.Add(int64(len(data))) // First, so that the count is right once the client has them all.
	n, err := p.ResponseWriter.Write(data)
	if p.from.broken.Load() && !p.from.whole.Load() {
		return n, errors.New("broken")
	}
	return n, err
}

func TestAnInterruptedLayerGoesOnByRange(t *testing.T) {
	s, dir := open(t)
	layer := noise(t)
	b := &breaking{limit: 10_000}
	host := images.ServeBehind(t, map[string]v1.Image{"a:1": images.Image(t, v1.Config{}, layer)}, func(inside http.Handler) http.Handler {
		b.inside = inside
		return b
	})
	ref := parse(t, host+"/a:1")
	if _, err := pull.Image(t.Context(), client(), s, ref, nil); !errors.Is(err, registry.ErrNotFound) {
		t.Fatalf("the registry did not break: %v", err)
	}
	b.whole.Store(true)
	var last store.Progress
	image, err := pull.Image(t.Context(), client(), s, ref, func(p store.Progress) { last = p })
	if err != nil {
		t.Fatal(err)
	}
	size, err := layer.Size()
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(dir, "configs", image.ID.Algorithm+"-"+image.ID.Hex+".json"))
	if err != nil {
		t.Fatal(err)
	}
	// The config is read at each pull.
	if want := size + 2*int64(len(config)); b.sent.Load() != want {
		t.Errorf("%d bytes were sent, want %d", b.sent.Load(), want)
	}
	if last != (store.Progress{Done: size, Total: size}) {
		t.Errorf("the last progress is %+v", last)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "work")); err != nil || len(left) != 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

func TestAnImageComesUnderItsRealNameFromAnotherHost(t *testing.T) {
	s, _ := open(t)
	from := images.Image(t, v1.Config{User: "7"}, noise(t))
	host := images.Serve(t, map[string]v1.Image{"library/perl:5.34.0": from})
	hosts := t.TempDir()
	images.Hosts(t, hosts, "docker.io", host)
	image, err := pull.Image(t.Context(), client(hosts), s, parse(t, "perl:5.34.0"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if digest, err := from.Digest(); err != nil || image.Name != "docker.io/library/perl:5.34.0" || image.Digest != digest {
		t.Errorf("pulled %+v, want digest %s, %v", image, digest, err)
	}
}

func TestAFailureNamesTheImage(t *testing.T) {
	s, _ := open(t)
	name := images.Serve(t, nil) + "/none:1"
	_, err := pull.Image(t.Context(), client(), s, parse(t, name), nil)
	if !errors.Is(err, registry.ErrNotFound) || !strings.Contains(err.Error(), "pull "+name) {
		t.Errorf("error: %v", err)
	}
}

// What is wrong in an image is said in the words of its registry, which has got the login.
func TestNoErrorOfALayerRepeatsTheLogin(t *testing.T) {
	const password = "open-sesame"
	file := images.File{Content: "x", Mode: 0o644}
	for what, image := range map[string]v1.Image{
		"a name":           images.Image(t, v1.Config{}, images.Layer(t, map[string]images.File{"../../" + password: file})),
		"base64":           images.Image(t, v1.Config{}, images.Layer(t, map[string]images.File{"../" + base64.StdEncoding.EncodeToString([]byte(password)): file})),
		"another system":   ofSystem(t, images.Image(t, v1.Config{}, noise(t)), password),
		"a digest, in hex": promising(t, images.Image(t, v1.Config{}, noise(t)), v1.Hash{Algorithm: "sha256", Hex: hexOf(password)}),
	} {
		t.Run(what, func(t *testing.T) {
			s, _ := open(t)
			host := images.ServeBehind(t, map[string]v1.Image{"a:1": image}, images.Login("me", password))
			ring := &credentials.Keyring{}
			ring.Add(host, credentials.Password("a test", "me", password))
			_, err := pull.Image(t.Context(), client().With(ring), s, parse(t, host+"/a:1"), nil)
			if err == nil || !strings.Contains(err.Error(), "is left out, as it repeats the login") {
				t.Errorf("error: %v", err)
			}
			all := fmt.Sprintf("%v %+v %#v", err, err, err)
			for _, form := range []string{password, "sesame", hexOf(password)[:22], base64.StdEncoding.EncodeToString([]byte(password))} {
				if strings.Contains(all, form) {
					t.Errorf("%q is in %s", form, all)
				}
			}
		})
	}
}

// hexOf returns a text in hexadecimal digits, as long as a digest.
func hexOf(text string) string {
	return (hex.EncodeToString([]byte(text)) + strings.Repeat("0", 64))[:64]
}

// ofSystem returns an image for another operating system; its architecture is left out.
func ofSystem(t *testing.T, image v1.Image, system string) v1.Image {
	return changed(t, image, func(f *v1.ConfigFile) { f.OS, f.Architecture = system, "" })
}

// promising returns an image whose configuration says that its layer has another digest.
func promising(t *testing.T, image v1.Image, digest v1.Hash) v1.Image {
	return changed(t, image, func(f *v1.ConfigFile) { f.RootFS.DiffIDs = []v1.Hash{digest} })
}

func changed(t *testing.T, image v1.Image, change func(*v1.ConfigFile)) v1.Image {
	t.Helper()
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	file = file.DeepCopy()
	change(file)
	if image, err = mutate.ConfigFile(image, file); err != nil {
		t.Fatal(err)
	}
	return image
}

// repacking is a response whose blob has the right content, but other compressed bytes.
type repacking struct{ http.ResponseWriter }

func (r repacking) Write(data []byte) (int, error) {
	const system = 9 // The byte of a gzip header that names the operating system.
	if len(data) > system && data[0] == 0x1f && data[1] == 0x8b {
		data = slices.Clone(data)
		data[system] ^= 1
	}
	return r.ResponseWriter.Write(data)
}

func TestALayerOfAnotherDigestIsNotKeptThoughItsContentIsRight(t *testing.T) {
	s, dir := open(t)
	host := images.ServeBehind(t, map[string]v1.Image{"a:1": images.Image(t, v1.Config{}, noise(t))}, func(inside http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { inside.ServeHTTP(repacking{w}, r) })
	})
	if _, err := pull.Image(t.Context(), client(), s, parse(t, host+"/a:1"), nil); !errors.Is(err, registry.ErrMismatch) {
		t.Errorf("error: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "[lw]*", "*")); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
