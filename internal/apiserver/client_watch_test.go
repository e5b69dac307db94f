package apiserver

import (
	"context"
	"errors"
	"net"
	"testing"

	noderuntime "github.com/stint-dev/stint/internal/node/runtime"
)

// What the handler returns is logged as an error.
func TestAClientThatGoesAwayIsNoErrorOfACommand(t *testing.T) {
	failed := errors.New("failed")
	for name, test := range map[string]struct {
		cause error
		want  error
	}{
		"the client is gone":   {errClientGone, nil},
		"the server has ended": {context.Canceled, failed},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		h := terminalHandler{run: func(context.Context, noderuntime.Streams) (int32, error) {
			cancel(test.cause)
			return 0, failed
		}}
		if err := h.ExecInContainer(ctx, "", "", "", nil, nil, nil, nil, false, nil, 0); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

// A command that prints notices first that nothing can be written any more.
func TestAClientIsGoneWhenItsConnectionCannotBeUsed(t *testing.T) {
	for name, use := range map[string]func(net.Conn){
		"read":  func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) },
		"write": func(c net.Conn) { _, _ = c.Write(make([]byte, 1)) },
	} {
		client, server := net.Pipe()
		client.Close()
		gone := 0
		use(&watchedConn{Conn: server, gone: func() { gone++ }})
		if gone != 1 {
			t.Errorf("%s: it was noticed %d times", name, gone)
		}
	}
}
