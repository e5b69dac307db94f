package apiserver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
)

// watchClient returns a request whose context ends when the client has closed its connection. net/http does not see that of
// a connection that was taken over from it.
func watchClient(w http.ResponseWriter, req *http.Request) (http.ResponseWriter, *http.Request, func()) {
	ctx, cancel := context.WithCancelCause(req.Context())
	gone := func() { cancel(errClientGone) }
	return &watchedWriter{ResponseWriter: w, gone: gone}, req.WithContext(ctx), gone
}

// errClientGone is why the context of a watched request has ended.
var errClientGone = errors.New("the client is gone")

// isClientGone reports whether the client of a watched request is gone, to whom no error can be told any more.
func isClientGone(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errClientGone) }

type watchedWriter struct {
	http.ResponseWriter
	gone func()
}

// Hijack implements http.Hijacker.
func (w *watchedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	watched := &watchedConn{Conn: conn, gone: w.gone}
	// What has arrived already is in the buffer.
	start := io.LimitReader(buffered, int64(buffered.Reader.Buffered()))
	reader := bufio.NewReader(io.MultiReader(start, watched))
	return watched, bufio.NewReadWriter(reader, bufio.NewWriter(watched)), nil
}

// watchedConn calls gone when it is closed, by whichever end. A read that its own end has interrupted is no error: the libraries
// would log it for each session.
type watchedConn struct {
	net.Conn
	gone func()
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.gone()
	}
	if errors.Is(err, net.ErrClosed) {
		err = io.EOF
	}
	return n, err
}

func (c *watchedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil {
		c.gone()
	}
	return n, err
}

func (c *watchedConn) Close() error {
	c.gone()
	return c.Conn.Close()
}
