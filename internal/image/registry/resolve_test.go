package registry_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	ours "github.com/stint-dev/stint/internal/image/registry"
)

func TestResolveReadsAnImage(t *testing.T) {
	h := newFakeRegistry(t)
	perl := h.perl()
	image := h.mustResolve("perl:5.34.0")
	digest, _ := perl.Digest()
	if image.Digest != digest || len(image.Layers) != 2 || command(t, image)[0] != "perl" {
		t.Errorf("got %v, layers %v, command %v", image.Digest, image.Layers, command(t, image))
	}
	f := h.file(nil)
	if err := h.fetch(image, f); err != nil || !bytes.Equal(content(t, f), packed(t, perl)) {
		t.Errorf("the layer is another one: %v", err)
	}
}

func TestResolvePicksThePlatform(t *testing.T) {
	h := newFakeRegistry(t)
	var index v1.ImageIndex = empty.Index
	for _, p := range []string{"amd64/v3", "arm/v5", "amd64", "arm/v7", "arm64/v8"} {
		arch, variant, _ := strings.Cut(p, "/")
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        makeImage(t, arch, variant, 100),
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch, Variant: variant}},
		})
	}
	h.push("library/perl:5.34.0", index)
	for want, platform := range map[string]v1.Platform{
		"amd64":   {OS: "linux", Architecture: "amd64"},
		"amd64v3": {OS: "linux", Architecture: "amd64", Variant: "v3"},
		"armv5":   {OS: "linux", Architecture: "arm", Variant: "v6"},
		"armv7":   {OS: "linux", Architecture: "arm"},
		"arm64v8": {OS: "linux", Architecture: "arm64", Variant: "v9"},
	} {
		h.config.Platform = platform
		if got := command(t, h.mustResolve("perl:5.34.0"))[1]; got != want {
			t.Errorf("for %s: %s, want %s", platform, got, want)
		}
	}
	h.config.Platform = v1.Platform{OS: "linux", Architecture: "s390x"}
	_, err := h.resolve("perl:5.34.0")
	if !errors.Is(err, ours.ErrNoPlatform) || !strings.Contains(err.Error(), "this machine is linux/s390x, the image is for: linux/amd64, linux/amd64/v3, linux/arm/v5") {
		t.Errorf("error: %v", err)
	}
}

func TestResolveRefusesAnotherPlatformWithoutAnIndex(t *testing.T) {
	h := newFakeRegistry(t)
	h.push("library/perl:5.34.0", makeImage(t, "arm64", "v8", 100))
	if _, err := h.resolve("perl:5.34.0"); !errors.Is(err, ours.ErrNoPlatform) {
		t.Errorf("error: %v", err)
	}
}

func TestResolveVerifiesDigests(t *testing.T) {
	h := newFakeRegistry(t)
	digest, _ := h.perl().Digest()
	if got := h.mustResolve("perl:wrong-tag@" + digest.String()).Digest; got != digest {
		t.Errorf("got %s", got)
	}
	h.on(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/manifests/") {
			return false
		}
		fmt.Fprint(w, `{"schemaVersion":2}`)
		return true
	})
	if _, err := h.resolve("perl@" + digest.String()); !errors.Is(err, ours.ErrMismatch) {
		t.Errorf("error: %v", err)
	}
}

// answer makes the registry send this as every manifest.
func (h *fakeRegistry) answer(contentType, body string) {
	h.on(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/manifests/") {
			return false
		}
		w.Header().Set("Content-Type", contentType)
		fmt.Fprint(w, body)
		return true
	})
}

func TestResolveRefusesWhatIsNoImage(t *testing.T) {
	const image = "application/vnd.oci.image.manifest.v1+json"
	hash := "sha256:" + strings.Repeat("a", 64)
	config := `"config":{"mediaType":"application/vnd.oci.image.config.v1+json","size":2,"digest":"` + hash + `"}`
	for what, c := range map[string]struct {
		contentType, body string
		kind              error
	}{
		"schema 1":             {"application/vnd.docker.distribution.manifest.v1+prettyjws", `{"schemaVersion":1}`, ours.ErrUnsupported},
		"both image and index": {image, `{"schemaVersion":2,"layers":[],"manifests":[]}`, ours.ErrUnsupported},
		"an artifact":          {image, `{"schemaVersion":2,"layers":[],"config":{"mediaType":"application/vnd.cncf.helm.config.v1+json","size":2,"digest":"` + hash + `"}}`, ours.ErrUnsupported},
		"an artifact type":     {image, `{"schemaVersion":2,"artifactType":"a/b","layers":[],` + config + `}`, ours.ErrUnsupported},
		"not JSON":             {image, `<html>`, ours.ErrUnsupported},
		"another type":         {"text/html", `{}`, ours.ErrUnsupported},
		"no digest":            {image, `{"schemaVersion":2,"layers":[{"size":1}],` + config + `}`, ours.ErrUnsupported},
		"negative size":        {image, `{"schemaVersion":2,"layers":[{"size":-1,"digest":"` + hash + `"}],` + config + `}`, ours.ErrUnsupported},
		"a large manifest":     {image, strings.Repeat(" ", 4<<20+1), ours.ErrTooLarge},
		"many layers":          {image, `{"schemaVersion":2,"layers":[` + strings.Repeat("{},", 20_000) + `{}],` + config + `}`, ours.ErrTooLarge},
		"many platforms":       {"application/vnd.oci.image.index.v1+json", `{"schemaVersion":2,"manifests":[` + strings.Repeat("{},", 20_000) + `{}]}`, ours.ErrTooLarge},
		"a large config":       {image, `{"schemaVersion":2,"layers":[],` + strings.Replace(config, `"size":2`, `"size":4194305`, 1) + `}`, ours.ErrTooLarge},
		"an index of itself":   {"application/vnd.oci.image.index.v1+json", `{"schemaVersion":2,"manifests":[]}`, ours.ErrNoPlatform},
	} {
		t.Run(what, func(t *testing.T) {
			h := newFakeRegistry(t)
			h.answer(c.contentType, c.body)
			if _, err := h.resolve("perl:5.34.0"); !errors.Is(err, c.kind) {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestResolveTellsErrorsApart(t *testing.T) {
	status := func(code int, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(code)
			fmt.Fprint(w, body)
			return true
		}
	}
	for what, c := range map[string]struct {
		before func(http.ResponseWriter, *http.Request) bool
		kind   error
		text   string
		pauses int
	}{
		"not there":   {nil, ours.ErrNotFound, ": not found", 0},
		"denied":      {status(403, `{"errors":[{"code":"DENIED","message":"go away"}]}`), ours.ErrUnauthorized, "403: the registry denies access, or there is no such repository; no login was found for it: go away", 0},
		"unavailable": {status(503, "oops"), ours.ErrUnavailable, "503 Service Unavailable", 3},
		"odd":         {status(418, "oops"), ours.ErrBadAnswer, "", 0},
	} {
		t.Run(what, func(t *testing.T) {
			h := newFakeRegistry(t)
			if c.before != nil {
				h.on(c.before)
			}
			_, err := h.resolve("perl:5.34.0")
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) || len(h.pauses) != c.pauses {
				t.Errorf("error: %v; pauses %v", err, h.pauses)
			}
		})
	}
}

func TestResolveNamesARegistryThatIsNotThere(t *testing.T) {
	h := newFakeRegistry(t)
	h.server.Close()
	_, err := h.resolve("perl:5.34.0")
	if !errors.Is(err, ours.ErrUnavailable) || !strings.Contains(err.Error(), h.address()) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("error: %v", err)
	}
}

func TestResolveTrustsNoUnknownCertificate(t *testing.T) {
	h := newFakeRegistry(t)
	server := httptest.NewTLSServer(h.store)
	t.Cleanup(server.Close)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.toml("docker.io", fmt.Sprintf("server = %q", server.URL))
	if _, err := h.resolve("perl:5.34.0"); !errors.Is(err, ours.ErrTLS) {
		t.Errorf("error: %v", err)
	}
	h.toml("docker.io", fmt.Sprintf("server = %q\nskip_verify = true", server.URL))
	if _, err := h.resolve("perl:5.34.0"); !errors.Is(err, ours.ErrNotFound) {
		t.Errorf("error: %v", err)
	}
	h.toml("docker.io", fmt.Sprintf("server = %q", strings.Replace(h.server.URL, "http:", "https:", 1)))
	if _, err := h.resolve("perl:5.34.0"); !errors.Is(err, ours.ErrTLS) || !strings.Contains(err.Error(), "plain HTTP") {
		t.Errorf("error: %v", err)
	}
}

func TestResolveAsksRegistriesOfThisMachineByPlainHTTP(t *testing.T) {
	h := newFakeRegistry(t)
	h.perl()
	h.config.HostsDirs = nil
	h.mustResolve(h.address() + "/library/perl:5.34.0")
}

func TestResolveWaitsAsLongAsAsked(t *testing.T) {
	h := newFakeRegistry(t)
	h.perl()
	times := 0
	h.on(func(w http.ResponseWriter, r *http.Request) bool {
		if times++; times > 2 {
			return false
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	})
	h.mustResolve("perl:5.34.0")
	if len(h.pauses) == 0 || h.pauses[0] != 7*time.Second {
		t.Errorf("pauses %v", h.pauses)
	}
	h.pauses = nil
	h.on(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	})
	_, err := h.resolve("perl:5.34.0")
	var e *ours.Error
	if !errors.As(err, &e) || !errors.Is(err, ours.ErrRateLimited) || e.RetryAfter != time.Hour || len(h.pauses) != 0 {
		t.Errorf("error: %v; pauses %v", err, h.pauses)
	}
}

func TestResolveGoesOnToTheNextHost(t *testing.T) {
	h := newFakeRegistry(t)
	h.perl()
	var asked []string
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		http.NotFound(w, r)
	}))
	t.Cleanup(mirror.Close)
	h.toml("docker.io", fmt.Sprintf("server = %q\n[host.%q]\ncapabilities = ['resolve']\noverride_path = true\n[host.'http://127.0.0.1:1']\ncapabilities = ['pull']",
		h.server.URL, mirror.URL+"/hub"))
	h.mustResolve("perl:5.34.0")
	if want := "/hub/library/perl/manifests/5.34.0?ns=docker.io"; len(asked) != 2 || asked[1] != want {
		t.Errorf("asked %q, want %s", asked, want)
	}
	_, err := h.resolve("nothing")
	if !errors.Is(err, ours.ErrNotFound) || !strings.Contains(err.Error(), "before that, "+strings.TrimPrefix(mirror.URL, "http://")) {
		t.Errorf("error: %v", err)
	}
}

func TestResolveNamesWrongSettings(t *testing.T) {
	h := newFakeRegistry(t)
	h.toml("docker.io", "servr = 'x'")
	_, err := h.resolve("perl:5.34.0")
	if !errors.Is(err, ours.ErrSettings) || !strings.Contains(err.Error(), `hosts.toml: line 1: unknown key "servr"`) {
		t.Errorf("error: %v", err)
	}
}
