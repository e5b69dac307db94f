package apiserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// memoryTransport passes requests to the handlers without a socket. It streams responses, so watches work.
type memoryTransport struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (t memoryTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	req = req.Clone(ctx)
	if req.Body == nil {
		req.Body = http.NoBody
	}
	req.RequestURI = req.URL.RequestURI()
	req.RemoteAddr = "127.0.0.1:0"
	reader, writer := io.Pipe()
	w := &memoryResponse{header: http.Header{}, body: writer, started: make(chan struct{}), ctx: ctx}
	go func() {
		defer cancel()
		t.serve(w, req)
	}()
	select {
	case <-w.started:
	case <-ctx.Done():
		// ctx also ends when the handler returns. Then the response has started.
		if !w.hasStarted() {
			_ = reader.CloseWithError(ctx.Err())
			return nil, ctx.Err()
		}
	}
	return &http.Response{
		Status: http.StatusText(w.code), StatusCode: w.code,
		Proto: "HTTP/2.0", ProtoMajor: 2,
		Header: w.sent, Body: memoryBody{reader, cancel}, ContentLength: -1, Request: req,
	}, nil
}

func (t memoryTransport) serve(w *memoryResponse, req *http.Request) {
	defer req.Body.Close()
	var broken error
	defer func() {
		if r := recover(); r != nil {
			if !aborted(r) {
				panic(r)
			}
			broken = io.ErrUnexpectedEOF
		}
		w.WriteHeader(http.StatusOK)
		_ = w.body.CloseWithError(broken)
	}()
	t.handler.ServeHTTP(w, req)
}

// memoryBody cancels the handler's context when the client closes the body, as a closed HTTP/2 stream does.
type memoryBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b memoryBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}

// aborted reports whether a panic is the one by which handlers abort a response, and not a bug.
func aborted(reason any) bool {
	err, ok := reason.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// memoryResponse is the handler's side of a response. The client reads the other end of the pipe.
type memoryResponse struct {
	header  http.Header
	body    *io.PipeWriter
	once    sync.Once
	started chan struct{}
	code    int
	sent    http.Header
	ctx     context.Context
}

func (w *memoryResponse) hasStarted() bool {
	select {
	case <-w.started:
		return true
	default:
		return false
	}
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

// Flush implements http.Flusher. A pipe has no buffer, so only the header is left to send.
func (w *memoryResponse) Flush() { w.WriteHeader(http.StatusOK) }

// CloseNotify implements http.CloseNotifier. The library requires it and http.Flusher for streams.
func (w *memoryResponse) CloseNotify() <-chan bool {
	closed := make(chan bool, 1)
	context.AfterFunc(w.ctx, func() { closed <- true })
	return closed
}
