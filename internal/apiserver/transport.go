package apiserver

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// memoryTransport takes requests to the handlers without a socket. Responses are streamed, so watches work.
type memoryTransport struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (t memoryTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if req.Body == nil {
		req.Body = http.NoBody
	}
	req.RequestURI = req.URL.RequestURI()
	req.RemoteAddr = "127.0.0.1:0"
	reader, writer := io.Pipe()
	w := &memoryResponse{header: http.Header{}, body: writer, started: make(chan struct{}), over: req.Context()}
	go func() {
		defer req.Body.Close()
		defer func() {
			if r := recover(); r != nil && r != http.ErrAbortHandler {
				panic(r)
			}
			w.WriteHeader(http.StatusOK)
			_ = writer.Close()
		}()
		t.handler.ServeHTTP(w, req)
	}()
	select {
	case <-w.started:
	case <-req.Context().Done():
		_ = reader.CloseWithError(req.Context().Err())
		return nil, req.Context().Err()
	}
	return &http.Response{
		Status: http.StatusText(w.code), StatusCode: w.code,
		Proto: "HTTP/2.0", ProtoMajor: 2,
		Header: w.sent, Body: reader, ContentLength: -1, Request: req,
	}, nil
}

// memoryResponse hands what a handler writes to the reader of the response.
type memoryResponse struct {
	header  http.Header
	body    *io.PipeWriter
	once    sync.Once
	started chan struct{}
	code    int
	sent    http.Header
	over    context.Context
}

func (w *memoryResponse) Header() http.Header { return w.header }

func (w *memoryResponse) WriteHeader(code int) {
	w.once.Do(func() {
		w.code, w.sent = code, w.header.Clone()
		close(w.started)
	})
}

func (w *memoryResponse) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// Flush implements http.Flusher: a pipe holds nothing back.
func (w *memoryResponse) Flush() { w.WriteHeader(http.StatusOK) }

// CloseNotify implements http.CloseNotifier, which the library looks for beside http.Flusher before it streams.
func (w *memoryResponse) CloseNotify() <-chan bool {
	closed := make(chan bool, 1)
	context.AfterFunc(w.over, func() { closed <- true })
	return closed
}
