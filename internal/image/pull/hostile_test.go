package pull_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/stint-dev/stint/internal/filesystem"
	"github.com/stint-dev/stint/internal/image/pull"
	"github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/smalldisk"
)

// hostile is a registry of one image, whose manifest may say anything about its layers.
type hostile struct {
	// sizes are what the manifest says about the size of each layer.
	sizes []string
	// layer answers requests of layers.
	layer http.HandlerFunc
	// asked counts them.
	asked atomic.Int64
}

func (h *hostile) config() []byte {
	var config v1.ConfigFile
	for i := range h.sizes {
		config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, digest([]byte(fmt.Sprint("content", i))))
	}
	text, _ := json.Marshal(config)
	return text
}

func (h *hostile) manifest() string {
	text := fmt.Sprintf(`{"schemaVersion": 2, "mediaType": %q, "config": {"mediaType": %q, "size": %d, "digest": %q}, "layers": [`,
		types.OCIManifestSchema1, types.OCIConfigJSON, len(h.config()), digest(h.config()))
	for i, size := range h.sizes {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf(`{"mediaType": %q, "size": %s, "digest": %q}`, types.OCILayer, size, digest([]byte(fmt.Sprint("layer", i))))
	}
	return text + "]}"
}

func digest(text []byte) v1.Hash {
	h, _, _ := v1.SHA256(bytes.NewReader(text))
	return h
}

func (h *hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.Contains(r.URL.Path, "/manifests/"):
		w.Header().Set("Content-Type", string(types.OCIManifestSchema1))
		_, _ = io.WriteString(w, h.manifest())
	case strings.HasSuffix(r.URL.Path, digest(h.config()).String()):
		_, _ = w.Write(h.config())
	case strings.Contains(r.URL.Path, "/blobs/"):
		h.asked.Add(1)
		h.layer(w, r)
	}
}

// pull pulls the image into a store on disk, and checks that nothing of it is left.
func (h *hostile) pull(t *testing.T, disk string) error {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	dir := filepath.Join(disk, "store")
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = pull.Image(t.Context(), client(), s, parse(t, strings.TrimPrefix(server.URL, "http://")+"/hostile:1"), nil)
	if left, globErr := filepath.Glob(filepath.Join(dir, "[lw]*", "*")); globErr != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, globErr)
	}
	return err
}

// endless sends bytes until the client hangs up, and counts them.
func endless(sent *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for chunk := make([]byte, 64<<10); ; {
			n, err := w.Write(chunk)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}
}

func TestAnImageThatDoesNotFitIsNotFetched(t *testing.T) {
	smalldisk.Run(t, 64, func(disk string) {
		for what, sizes := range map[string][]string{
			"1.0 PiB":            {"1125899906842624"},
			"70 MiB":             {"36700160", "36700160"},
			"8192.0 PiB":         {"9223372036854775807", "9223372036854775807", "9223372036854775807"},
			"62 MiB":             {"65011712"}, // It would take the reserve.
			"without a size":     {"-1"},
			"manifest is damage": {"9223372036854775808"},
		} {
			h := &hostile{sizes: sizes, layer: http.NotFound}
			err := h.pull(t, disk)
			if err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), "/hostile:1") {
				t.Errorf("layers of %v bytes: %v", sizes, err)
			}
			if n := h.asked.Load(); n != 0 {
				t.Errorf("layers of %v bytes: %d were asked for", sizes, n)
			}
		}
		err := (&hostile{sizes: []string{"1125899906842624"}, layer: http.NotFound}).pull(t, disk)
		for _, part := range []string{"the image needs 1.0 PiB, and 64 MiB are free on the file system of " + disk,
			"of which 3 MiB are kept in reserve", "stint image rm", "--image-dir"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q is not in %v", part, err)
			}
		}
	})
}

func TestALayerWithoutAnEndIsCutOff(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("images are unpacked by root so far")
	}
	var sent atomic.Int64
	h := &hostile{sizes: []string{"1048576"}, layer: endless(&sent)}
	err := h.pull(t, t.TempDir())
	if !errors.Is(err, registry.ErrMismatch) || !strings.Contains(err.Error(), "larger than the 1048576 bytes that the manifest says") {
		t.Errorf("error: %v", err)
	}
}

// A registry may keep a connection as long as it likes, and nothing uses it any more.
func TestConnectionsEndWithThePull(t *testing.T) {
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(&hostile{sizes: []string{"100"}, layer: http.NotFound})
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			connections.Add(1)
		case http.StateClosed:
			connections.Add(-1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	s, _ := open(t)
	_, err := pull.Image(t.Context(), client(), s, parse(t, strings.TrimPrefix(server.URL, "http://")+"/hostile:1"), nil)
	if !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("error: %v", err)
	}
	await.Until(t, "no connection is left", func() bool { return connections.Load() == 0 })
}

func TestALayerThatIsShorterThanAnnouncedIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("images are unpacked by root so far")
	}
	h := &hostile{sizes: []string{"1048576"}, layer: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "short") }}
	if err := h.pull(t, t.TempDir()); !errors.Is(err, registry.ErrMismatch) || !strings.Contains(err.Error(), "smaller than") {
		t.Errorf("error: %v", err)
	}
}

// bomb is the beginning of a compressed layer with an endless file: many zeros, and then bytes that do not get smaller, so that the
// zeros are unpacked though more is awaited.
func bomb(t *testing.T) []byte {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zip)
	random := make([]byte, 512<<10)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	for _, err := range []error{
		archive.WriteHeader(&tar.Header{Name: "zeros", Mode: 0o644, Size: 1 << 35}),
		second(archive.Write(make([]byte, 80<<20))), second(archive.Write(random)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return packed.Bytes()
}

func second(_ int, err error) error { return err }

// The pull must not go on until the registry has sent all, as that may take for ever.
func TestALayerThatIsLargerUnpackedThanTheDiskIsGivenUpAtOnce(t *testing.T) {
	smalldisk.Run(t, 64, func(disk string) {
		begin := bomb(t)
		h := &hostile{sizes: []string{"1048576"}, layer: func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(begin)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}}
		least := watch(t, disk)
		err := h.pull(t, disk)
		if !filesystem.IsFull(err) || !strings.Contains(err.Error(), `entry "zeros": there is no more space on the file system of `+disk) {
			t.Errorf("error: %v", err)
		}
		if free := least(); free < 3<<20 {
			t.Errorf("only %d bytes were free", free)
		}
	})
}

// watch watches how many bytes are free on a disk, until least is called, which returns the least that it has seen.
func watch(t *testing.T, disk string) (least func() int64) {
	watching, stop := context.WithTimeout(t.Context(), time.Minute)
	seen := make(chan int64)
	go func() {
		low := int64(1 << 62)
		for watching.Err() == nil {
			if space, err := filesystem.SpaceOf(disk); err == nil {
				low = min(low, space.BytesAvailable)
			}
		}
		seen <- low
	}()
	return func() int64 {
		stop()
		return <-seen
	}
}
