package registry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	ours "github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/image/registry/credentials"
)

// fakeRegistry is a registry on this machine that a hosts.toml makes the server of docker.io.
type fakeRegistry struct {
	t      *testing.T
	server *httptest.Server
	store  http.Handler
	hosts  string
	// before gets each request first. If it returns true, it has answered.
	before atomic.Pointer[func(http.ResponseWriter, *http.Request) bool]
	// sent counts the bytes of blobs' bodies.
	sent   atomic.Int64
	pauses []time.Duration
	config ours.Config
}

func newFakeRegistry(t *testing.T) *fakeRegistry {
	t.Helper()
	h := &fakeRegistry{t: t, hosts: t.TempDir()}
	h.store = registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	h.server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.server.Close)
	h.toml("docker.io", fmt.Sprintf("server = %q", h.server.URL))
	h.config = ours.Config{
		HostsDirs: []string{h.hosts},
		Platform:  v1.Platform{OS: "linux", Architecture: "amd64"},
		Wait: func(ctx context.Context, d time.Duration) error {
			h.pauses = append(h.pauses, d)
			return ctx.Err()
		},
	}
	return h
}

func (h *fakeRegistry) serve(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.URL.Path, "/blobs/") && r.Method == http.MethodGet {
		w = &counting{ResponseWriter: w, n: &h.sent}
	}
	if before := h.before.Load(); before != nil && (*before)(w, r) {
		return
	}
	h.store.ServeHTTP(w, r)
}

type counting struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c *counting) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p))) // First, so that the count is right once the client has them all.
	return c.ResponseWriter.Write(p)
}

func (h *fakeRegistry) on(before func(http.ResponseWriter, *http.Request) bool) {
	h.before.Store(&before)
}

func (h *fakeRegistry) toml(registry, content string) {
	h.t.Helper()
	dir := filepath.Join(h.hosts, registry)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "hosts.toml"), []byte(content), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func (h *fakeRegistry) address() string {
	u, _ := url.Parse(h.server.URL)
	return u.Host
}

// push stores an image or an index straight into the registry.
func (h *fakeRegistry) push(repository string, what any) {
	h.t.Helper()
	direct := httptest.NewServer(h.store)
	defer direct.Close()
	ref, err := name.ParseReference(strings.TrimPrefix(direct.URL, "http://") + "/" + repository)
	if err != nil {
		h.t.Fatal(err)
	}
	switch it := what.(type) {
	case v1.Image:
		err = remote.Write(ref, it)
	case v1.ImageIndex:
		err = remote.WriteIndex(ref, it)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *fakeRegistry) client() *ours.Client { return ours.New(h.config) }

func (h *fakeRegistry) resolve(ref string) (*ours.Image, error) {
	parsed, err := ours.Parse(ref)
	if err != nil {
		return nil, err
	}
	return h.client().Resolve(h.t.Context(), parsed)
}

func (h *fakeRegistry) mustResolve(ref string) *ours.Image {
	h.t.Helper()
	image, err := h.resolve(ref)
	if err != nil {
		h.t.Fatal(err)
	}
	return image
}

// fetch downloads the image's first layer.
func (h *fakeRegistry) fetch(image *ours.Image, f *os.File) error {
	return h.client().Fetch(h.t.Context(), image, image.Layers[0], f, noReport)
}

func noReport(int64) {}

// command returns the command of an image.
func command(t *testing.T, image *ours.Image) []string {
	t.Helper()
	var config v1.ConfigFile
	if err := json.Unmarshal(image.Config, &config); err != nil {
		t.Fatal(err)
	}
	return config.Config.Cmd
}

func (h *fakeRegistry) file(begun []byte) *os.File {
	h.t.Helper()
	f, err := os.OpenFile(filepath.Join(h.t.TempDir(), "layer"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = f.Close() })
	if _, err := f.Write(begun); err != nil {
		h.t.Fatal(err)
	}
	return f
}

// perl pushes an image as perl:5.34.0, with one layer of 1 MiB and a small one.
func (h *fakeRegistry) perl() v1.Image {
	h.t.Helper()
	image := makeImage(h.t, "amd64", "", 1<<20)
	h.push("library/perl:5.34.0", image)
	return image
}

func makeImage(t *testing.T, architecture, variant string, size int64) v1.Image {
	t.Helper()
	image := empty.Image
	for _, n := range []int64{size, 300} {
		layer, err := random.Layer(n, "application/vnd.docker.image.rootfs.diff.tar.gzip")
		if err != nil {
			t.Fatal(err)
		}
		if image, err = mutate.AppendLayers(image, layer); err != nil {
			t.Fatal(err)
		}
	}
	config, _ := image.ConfigFile()
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = "linux", architecture, variant
	config.Config.Cmd = []string{"perl", architecture + variant}
	image, err := mutate.ConfigFile(image, config)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// packed returns the compressed bytes of the first layer.
func packed(t *testing.T, image v1.Image) []byte {
	t.Helper()
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	r, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// keychain is a keychain with the same credentials for every repository. It records the repositories that it is asked for.
type keychain struct {
	list  []credentials.Credential
	asked []string
}

func (k *keychain) Find(_ context.Context, repository string) ([]credentials.Credential, error) {
	k.asked = append(k.asked, repository)
	return k.list, nil
}
