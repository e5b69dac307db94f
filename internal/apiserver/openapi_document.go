package apiserver

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"net/http"
	"time"
)

// document is an answer of another handler, compressed.
type document struct {
	status int
	header http.Header
	body   bytes.Buffer
	into   *gzip.Writer
}

// newDocument gets the whole answer to a request that may ask for a part of it, or for it only if it has changed.
func newDocument(from http.Handler, r *http.Request) *document {
	d := &document{status: http.StatusOK, header: http.Header{}}
	d.into = gzip.NewWriter(&d.body)
	whole := r.Clone(r.Context())
	whole.Method = http.MethodGet
	whole.Header = http.Header{"Accept": r.Header["Accept"]}
	from.ServeHTTP(d, whole)
	_ = d.into.Close() // the buffer takes everything
	d.into = nil       // a compressor is larger than what it has written
	return d
}

// Header implements http.ResponseWriter.
func (d *document) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter.
func (d *document) WriteHeader(status int) { d.status = status }

// Write implements http.ResponseWriter.
func (d *document) Write(p []byte) (int, error) { return d.into.Write(p) }

func (d *document) serve(w http.ResponseWriter, r *http.Request) {
	body, err := d.content()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	maps.Copy(w.Header(), d.header)
	w.Header().Del("Content-Length")
	if d.status != http.StatusOK {
		w.WriteHeader(d.status)
		_, _ = w.Write(body) // the client is gone if this fails
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

func (d *document) content() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(d.body.Bytes()))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
