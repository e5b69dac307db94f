package registry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	ours "github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/image/registry/credentials"
)

func content(t *testing.T, f *os.File) []byte {
	t.Helper()
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// blobs answers requests for the first layer.
func (h *fakeRegistry) blobs(image *ours.Image, answer func(http.ResponseWriter, *http.Request)) {
	h.on(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/blobs/"+image.Layers[0].Digest.String()) {
			return false
		}
		answer(w, r)
		return true
	})
}

func TestFetchGoesOnWhereItWasInterrupted(t *testing.T) {
	h := newFakeRegistry(t)
	want := packed(t, h.perl())
	image := h.mustResolve("perl:5.34.0")
	h.sent.Store(0)
	h.blobs(image, func(w http.ResponseWriter, r *http.Request) {
		var start, end int
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &start, &end); err == nil {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, end, len(want)))
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(want)-start))
		if start > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		// Each response ends after a tenth of the layer.
		_, _ = w.Write(want[start:min(start+len(want)/10, len(want))])
	})
	var last int64
	report := func(done int64) {
		if done < last {
			t.Errorf("progress went back from %d to %d", last, done)
		}
		last = done
	}
	f := h.file(nil)
	if err := h.client().Fetch(t.Context(), image, image.Layers[0], f, report); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(content(t, f), want) {
		t.Error("the file is not the layer")
	}
	if n := h.sent.Load(); n != int64(len(want)) {
		t.Errorf("%d bytes were sent for a layer of %d", n, len(want))
	}
	if last != int64(len(want)) {
		t.Errorf("the last progress is %d", last)
	}
	for _, p := range h.pauses {
		if p != h.pauses[0] {
			t.Errorf("pauses grow although the layer gets on: %v", h.pauses)
		}
	}
}

func TestFetchGoesOnFromAFile(t *testing.T) {
	h := newFakeRegistry(t)
	want := packed(t, h.perl())
	image := h.mustResolve("perl:5.34.0")
	h.sent.Store(0)
	f := h.file(want[:1000])
	if err := h.fetch(image, f); err != nil {
		t.Fatal(err)
	}
	if n := h.sent.Load(); n != int64(len(want)-1000) || !bytes.Equal(content(t, f), want) {
		t.Errorf("%d bytes were sent", n)
	}
	if err := h.fetch(image, f); err != nil || h.sent.Load() != int64(len(want)-1000) {
		t.Errorf("a whole file was fetched again: %v", err)
	}
}

func TestFetchBeginsAnewWhereAFileIsWrong(t *testing.T) {
	h := newFakeRegistry(t)
	want := packed(t, h.perl())
	image := h.mustResolve("perl:5.34.0")
	for what, begun := range map[string][]byte{
		"another beginning": bytes.Repeat([]byte("x"), 1000),
		"too long":          append(bytes.Clone(want), 'x'),
	} {
		f := h.file(begun)
		if err := h.fetch(image, f); err != nil || !bytes.Equal(content(t, f), want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestFetchBeginsAnewWithAServerThatSendsAll(t *testing.T) {
	h := newFakeRegistry(t)
	want := packed(t, h.perl())
	image := h.mustResolve("perl:5.34.0")
	h.blobs(image, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(want) })
	f := h.file(want[:1000])
	if err := h.fetch(image, f); err != nil || !bytes.Equal(content(t, f), want) {
		t.Error(err)
	}
}

func TestFetchGivesUp(t *testing.T) {
	h := newFakeRegistry(t)
	want := packed(t, h.perl())
	image := h.mustResolve("perl:5.34.0")
	h.blobs(image, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	f := h.file(want[:1000])
	err := h.fetch(image, f)
	if !errors.Is(err, ours.ErrUnavailable) || len(h.pauses) != 3 || h.pauses[2] != 4*h.pauses[0] {
		t.Errorf("error: %v; pauses %v", err, h.pauses)
	}
	if len(content(t, f)) != 1000 {
		t.Error("the beginning is gone")
	}
	h.pauses = nil
	begun := 0
	h.blobs(image, func(w http.ResponseWriter, _ *http.Request) {
		begun++
		w.Header().Set("Content-Length", strconv.Itoa(len(want)))
		_, _ = w.Write(want[:5000])
	})
	if err := h.fetch(image, h.file(nil)); !errors.Is(err, ours.ErrUnavailable) || begun > 6 {
		t.Errorf("%d tries at a server that always sends the same beginning: %v", begun, err)
	}
}

func TestFetchCutsOff(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}
	for what, answer := range map[string]func(http.ResponseWriter, *http.Request){
		"an endless body": endless,
		"a length beyond the manifest's": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "5000000000")
			endless(w, r)
		},
		"too little":   func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "little") },
		"another body": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1)) },
	} {
		t.Run(what, func(t *testing.T) {
			h := newFakeRegistry(t)
			h.perl()
			image := h.mustResolve("perl:5.34.0")
			h.blobs(image, answer)
			f := h.file(nil)
			if err := h.fetch(image, f); !errors.Is(err, ours.ErrMismatch) {
				t.Errorf("error: %v", err)
			}
			if n := len(content(t, f)); n != 0 {
				t.Errorf("the file holds %d bytes", n)
			}
		})
	}
}

func TestFetchKeepsNothingThatHasAnotherDigest(t *testing.T) {
	h := newFakeRegistry(t)
	want := packed(t, h.perl())
	image := h.mustResolve("perl:5.34.0")
	wrong := bytes.Clone(want)
	wrong[7]++
	h.blobs(image, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(wrong) })
	f := h.file(nil)
	if err := h.fetch(image, f); !errors.Is(err, ours.ErrMismatch) || !strings.Contains(err.Error(), image.Layers[0].Digest.String()) {
		t.Errorf("error: %v", err)
	}
	if n := len(content(t, f)); n != 0 {
		t.Errorf("the file holds %d bytes", n)
	}
}

func TestFetchAsksTheRegistryWhereAMirrorLies(t *testing.T) {
	h := newFakeRegistry(t)
	perl := h.perl()
	want := packed(t, perl)
	wrong := h.mustResolve("perl:5.34.0").Layers[0].Digest.String()
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, wrong) {
			_, _ = w.Write(make([]byte, len(want)))
			return
		}
		h.store.ServeHTTP(w, r)
	}))
	t.Cleanup(mirror.Close)
	through := func(capabilities string) *ours.Image {
		h.toml("docker.io", fmt.Sprintf("server = %q\ncapabilities = %s\n[host.%q]", h.server.URL, capabilities, mirror.URL))
		return h.mustResolve("perl:5.34.0")
	}
	helped, alone := through("['resolve', 'pull']"), through("['resolve']")
	f := h.file(nil)
	if err := h.fetch(helped, f); err != nil || !bytes.Equal(content(t, f), want) {
		t.Error(err)
	}
	h.server.Close()
	if err := h.fetch(helped, h.file(nil)); !errors.Is(err, ours.ErrUnavailable) || !strings.Contains(err.Error(), "before that, content does not match") {
		t.Errorf("error: %v", err)
	}
	if err := h.fetch(alone, h.file(nil)); !errors.Is(err, ours.ErrMismatch) {
		t.Errorf("error: %v", err)
	}
}

func TestFetchMendsABeginningFromAMirrorAlone(t *testing.T) {
	h := newFakeRegistry(t)
	want := packed(t, h.perl())
	h.toml("docker.io", fmt.Sprintf("server = 'http://127.0.0.1:1'\n[host.%q]", h.server.URL))
	image := h.mustResolve("perl:5.34.0")
	f := h.file(bytes.Repeat([]byte("x"), 1000))
	if err := h.fetch(image, f); err != nil || !bytes.Equal(content(t, f), want) {
		t.Error(err)
	}
}

func TestFetchSeveralLayersAtATime(t *testing.T) {
	h := newFakeRegistry(t)
	h.perl()
	h.on(basic)
	h.config.Keychain = &keychain{list: []credentials.Credential{wrong(), right()}}
	image := h.mustResolve("perl:5.34.0")
	client := h.client()
	done := make(chan error)
	for i := range 8 {
		f := h.file(nil)
		go func() { done <- client.Fetch(t.Context(), image, image.Layers[i%2], f, noReport) }()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestFetchEndsATransferThatStandsStill(t *testing.T) {
	h := newFakeRegistry(t)
	want := packed(t, h.perl())
	image := h.mustResolve("perl:5.34.0")
	first := true
	still := func(w http.ResponseWriter, r *http.Request) bool {
		if !first || !strings.Contains(r.URL.Path, "/blobs/") {
			return false
		}
		first = false
		w.Header().Set("Content-Length", strconv.Itoa(len(want)))
		_, _ = w.Write(want[:100])
		w.(*counting).ResponseWriter.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	}
	h.on(still)
	h.config.Stall = 50 * time.Millisecond
	f := h.file(nil)
	if err := h.fetch(image, f); err != nil || !bytes.Equal(content(t, f), want) {
		t.Error(err)
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	h := newFakeRegistry(t)
	h.perl()
	image := h.mustResolve("perl:5.34.0")
	ctx, cancel := context.WithCancel(t.Context())
	h.blobs(image, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	err := h.client().Fetch(ctx, image, image.Layers[0], h.file(nil), noReport)
	if !errors.Is(err, context.Canceled) || len(h.pauses) > 0 {
		t.Errorf("error: %v", err)
	}
}

func TestFetchReturnsErrorsOfItsFile(t *testing.T) {
	h := newFakeRegistry(t)
	h.perl()
	image := h.mustResolve("perl:5.34.0")
	f, err := os.Create(filepath.Join(t.TempDir(), "closed"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := h.fetch(image, f); !errors.Is(err, os.ErrClosed) || len(h.pauses) > 0 {
		t.Errorf("error: %v", err)
	}
}
