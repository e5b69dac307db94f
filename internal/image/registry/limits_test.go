package registry_test

import (
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	ours "github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/test/await"
)

// answerLimit is the limit for an answer in these tests: long for a server of this machine, and short for a test.
const answerLimit = 2 * time.Second

// newHostile is a registry whose answers have limits, and whose client tries each request once.
func newHostile(t *testing.T) *fakeRegistry {
	t.Helper()
	h := newFakeRegistry(t)
	h.config.Answer = answerLimit
	h.config.Wait = func(context.Context, time.Duration) error { return errors.New("one try is enough") }
	h.push("library/perl:5.34.0", makeImage(t, "amd64", "", 1000))
	return h
}

// resolveInTime is resolve, and fails the test if it never ends.
func (h *fakeRegistry) resolveInTime() error {
	h.t.Helper()
	result := make(chan error, 1)
	go func() {
		_, err := h.resolve("perl:5.34.0")
		result <- err
	}()
	return await.Value(h.t, "the end of the requests", result)
}

// steps are the requests of a pull before its layers, and what the client calls their answers.
var steps = map[string]struct {
	is   func(*http.Request) bool
	name string
}{
	"ping":     {func(r *http.Request) bool { return r.URL.Path == "/v2/" }, "the answer to /v2/"},
	"token":    {func(r *http.Request) bool { return r.URL.Path == "/token" }, "the token"},
	"manifest": {func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/manifests/") }, "the manifest"},
	"blob":     {func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/blobs/") }, "the configuration"},
}

// answers has the registry answer one of the steps with raw bytes; after them the connection is open, and silent, until the client
// closes it.
func (h *fakeRegistry) answers(step string, raw func(io.Writer)) {
	guarded := namesTokenServer(h.server.URL)
	h.on(func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case steps[step].is(r):
			if counted, ok := w.(*counting); ok {
				w = counted.ResponseWriter
			}
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				h.t.Error(err)
				return true
			}
			defer conn.Close()
			raw(conn)
			_, _ = conn.Read(make([]byte, 1))
			return true
		case step == "ping":
			return false // No login is needed then.
		case steps["token"].is(r):
			fmt.Fprint(w, `{"token":"a-token"}`)
			return true
		}
		return guarded(w, r)
	})
}

// repeat writes a text until the client has closed the connection, with pauses or as fast as the client reads.
func repeat(w io.Writer, text string, pause time.Duration) {
	for {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
		time.Sleep(pause)
	}
}

const ok = "HTTP/1.1 200 OK\r\n"

// hangs are the ways in which a server gives no answer.
var hangs = map[string]func(io.Writer){
	"sends nothing":            func(io.Writer) {},
	"sends half a line":        func(w io.Writer) { _, _ = io.WriteString(w, "HTTP/1.1 20") },
	"sends headers one by one": func(w io.Writer) { _, _ = io.WriteString(w, ok); repeat(w, "A: b\r\n", 10*time.Millisecond) },
	"sends half a body":        func(w io.Writer) { _, _ = io.WriteString(w, ok+"Content-Length: 100\r\n\r\n{") },
	"trickles":                 func(w io.Writer) { _, _ = io.WriteString(w, ok+"\r\n{"); repeat(w, " ", 10*time.Millisecond) },
	"redirects half": func(w io.Writer) {
		_, _ = io.WriteString(w, "HTTP/1.1 302 Found\r\nLocation: /v2/elsewhere\r\nContent-Length: 100\r\n\r\n")
	},
	"sends trailers one by one": func(w io.Writer) {
		_, _ = io.WriteString(w, ok+"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n")
		repeat(w, "A: b\r\n", 10*time.Millisecond)
	},
	"compresses nothing": func(w io.Writer) {
		_, _ = io.WriteString(w, ok+"Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03")
		repeat(w, "\x00\x00\x00\xff\xff", time.Millisecond) // Empty blocks.
	},
}

// halfErrors are errors without an end. Where the status alone says enough, it is what the client returns.
var halfErrors = map[string]func(io.Writer){
	"errs and says nothing": func(w io.Writer) { _, _ = io.WriteString(w, "HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\n") },
	"denies and trickles": func(w io.Writer) {
		_, _ = io.WriteString(w, "HTTP/1.1 403 Forbidden\r\n\r\n{")
		repeat(w, " ", 10*time.Millisecond)
	},
}

func TestNoAnswerIsAwaitedForEver(t *testing.T) {
	var all sync.WaitGroup
	for step, at := range steps {
		late := at.name + " did not arrive within 2s"
		for what, raw := range hangs {
			all.Go(newHostile(t).expects(step, what, raw, late))
		}
		for what, raw := range halfErrors {
			switch step {
			case "token":
				all.Go(newHostile(t).expects(step, what, raw, late))
			case "manifest", "blob":
				all.Go(newHostile(t).expects(step, what, raw, "40"))
			}
		}
	}
	ended := make(chan bool, 1)
	go func() { all.Wait(); ended <- true }()
	await.Value(t, "the end of all requests", ended)
}

// expects returns a function that pulls from the registry while it answers a step in its own way, and checks what the error says.
func (h *fakeRegistry) expects(step, what string, raw func(io.Writer), want string) func() {
	h.answers(step, raw)
	return func() {
		_, err := h.resolve("perl:5.34.0")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), h.address()) {
			h.t.Errorf("the %s %s: error %v, want %q at %s", step, what, err, want, h.address())
		}
	}
}

func TestALateTokenServerIsNamed(t *testing.T) {
	t.Parallel()
	h := newHostile(t)
	tokens := newTokenServer(t, "127.0.0.1", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	h.on(namesTokenServer(tokens.at("localhost")))
	err := h.resolveInTime()
	want := fmt.Sprintf("%s: registry is unavailable: the token did not arrive within 2s; the host that was asked: %s",
		h.address(), strings.TrimPrefix(tokens.at("localhost"), "http://"))
	if err == nil || err.Error() != want {
		t.Errorf("error: %v, want %s", err, want)
	}
}

func TestNoHandshakeIsAwaitedForEver(t *testing.T) {
	t.Parallel()
	h := newHostile(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	h.toml("docker.io", fmt.Sprintf("server = 'https://%s'", listener.Addr()))
	err = h.resolveInTime()
	if !errors.Is(err, ours.ErrUnavailable) || !strings.Contains(err.Error(), "the answer to /v2/ did not arrive within 2s") {
		t.Errorf("error: %v", err)
	}
}

// zeros writes an endless text, compressed.
func zeros(w io.Writer) {
	_, _ = io.WriteString(w, "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03")
	packed, _ := flate.NewWriter(w, flate.BestSpeed)
	for text := make([]byte, 1<<20); ; {
		if _, err := packed.Write(text); err != nil {
			return
		}
	}
}

func TestNoAnswerIsReadWithoutALimit(t *testing.T) {
	endless := func(status string) func(io.Writer) {
		return func(w io.Writer) {
			_, _ = io.WriteString(w, "HTTP/1.1 "+status+"\r\n\r\n")
			repeat(w, strings.Repeat("x", 64<<10), 0)
		}
	}
	bomb := func(w io.Writer) {
		_, _ = io.WriteString(w, ok+"Content-Encoding: gzip\r\n\r\n")
		zeros(w)
	}
	headers := func(w io.Writer) { _, _ = io.WriteString(w, ok); repeat(w, "A: b\r\n", 0) }
	hints := func(w io.Writer) { repeat(w, "HTTP/1.1 103 Early Hints\r\n\r\n", 0) }
	again := func(w io.Writer) {
		_, _ = io.WriteString(w, "HTTP/1.1 307 Temporary Redirect\r\nLocation: ?\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		_ = w.(net.Conn).Close()
	}
	for _, c := range []struct {
		step, what string
		raw        func(io.Writer)
		kind       error
		want       string
	}{
		{"ping", "an endless body", endless("200 OK"), nil, ""},
		{"ping", "an endless compressed body", bomb, nil, ""},
		{"ping", "an endless error", endless("503 Service Unavailable"), ours.ErrUnavailable, "503"},
		{"ping", "endless headers", headers, ours.ErrBadAnswer, "the headers of the answer have more than 64 KiB"},
		{"ping", "endless redirects", again, ours.ErrBadAnswer, "redirects more than 10 times"},
		{"token", "an endless body", endless("200 OK"), ours.ErrBadAnswer, "the answer of the token server has more than 64 KiB"},
		{"token", "an endless compressed body", bomb, ours.ErrBadAnswer, "the answer of the token server has more than 64 KiB"},
		{"token", "an endless error", endless("503 Service Unavailable"), ours.ErrUnavailable, "503"},
		{"token", "an endless denial", endless("401 Unauthorized"), ours.ErrUnauthorized, "401"},
		{"token", "endless headers", headers, ours.ErrBadAnswer, "the headers of the answer have more than 64 KiB"},
		{"manifest", "an endless body", endless("200 OK"), ours.ErrTooLarge, ""},
		{"manifest", "an endless compressed body", bomb, ours.ErrTooLarge, ""},
		{"manifest", "an endless error", endless("404 Not Found"), ours.ErrNotFound, "404"},
		{"manifest", "endless headers", headers, ours.ErrBadAnswer, "the headers of the answer have more than 64 KiB"},
		{"manifest", "endless hints", hints, ours.ErrBadAnswer, "the headers of the answer have more than 64 KiB"},
		{"manifest", "endless redirects", again, ours.ErrBadAnswer, "redirects more than 10 times"},
		{"blob", "an endless compressed body", bomb, ours.ErrTooLarge, ""},
	} {
		t.Run(c.step+" "+c.what, func(t *testing.T) {
			h := newHostile(t)
			h.config.Answer = await.Limit
			h.answers(c.step, c.raw)
			err := h.resolveInTime()
			if !errors.Is(err, c.kind) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestFetchEndsWithoutTheBeginningOfALayer(t *testing.T) {
	h := newHostile(t)
	image := h.mustResolve("perl:5.34.0")
	for answer, want := range map[string]string{
		"": "the beginning of the layer did not arrive within 2s",
		"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 100\r\n\r\n": "503",
	} {
		h.answers("blob", func(w io.Writer) { _, _ = io.WriteString(w, answer) })
		err := h.fetchInTime(image, h.file(nil))
		if !errors.Is(err, ours.ErrUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("an answer of %q: %v", answer, err)
		}
	}
}

// fetchInTime is fetch, and fails the test if it never ends.
func (h *fakeRegistry) fetchInTime(image *ours.Image, f *os.File) error {
	h.t.Helper()
	result := make(chan error, 1)
	go func() { result <- h.fetch(image, f) }()
	return await.Value(h.t, "the end of the transfer", result)
}

func TestALayerMayTakeLongerThanAnAnswer(t *testing.T) {
	t.Parallel()
	h := newHostile(t)
	perl, _ := ours.Parse("perl:5.34.0")
	image, err := h.client().Resolve(t.Context(), perl)
	if err != nil {
		t.Fatal(err)
	}
	size := int(image.Layers[0].Size)
	inside := h.store
	h.blobs(image, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(size))
		_ = http.NewResponseController(w.(*counting).ResponseWriter).Flush()
		time.Sleep(answerLimit + answerLimit/2)
		inside.ServeHTTP(w, r)
	})
	if err := h.fetchInTime(image, h.file(nil)); err != nil {
		t.Error(err)
	}
}

func TestTheErrorOfATransferThatStandsStillSaysHowLong(t *testing.T) {
	h := newHostile(t)
	image := h.mustResolve("perl:5.34.0")
	h.config.Stall = 50 * time.Millisecond
	h.blobs(image, func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w.(*counting).ResponseWriter).Flush()
		<-r.Context().Done()
	})
	err := h.fetchInTime(image, h.file(nil))
	if want := h.address() + ": registry is unavailable: no data of the layer for 50ms"; err == nil || err.Error() != want {
		t.Errorf("error: %v, want %s", err, want)
	}
}
