package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/stint-dev/stint/internal/node/process/host"
	"github.com/stint-dev/stint/internal/node/process/wire"
)

// startPatience is how long a host process may take to answer.
const startPatience = 30 * time.Second

// establish connects to the living host of the data directory, or starts one.
func establish(ctx context.Context, config Config) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	l := &launcher{config: config}
	var refused, failed error
	for ctx.Err() == nil {
		dir, err := runDir(config.Dir)
		if err != nil {
			return nil, err
		}
		link, err := connect(dir, config.Dir)
		if err == nil {
			link.child = l.pid
			return link, nil
		}
		var incompatible *incompatibleError
		if errors.As(err, &incompatible) {
			return nil, err
		}
		if errors.Is(err, errRefused) {
			refused = err
		}
		if failed = l.advance(ctx, dir); errors.Is(failed, errNoRung) {
			return nil, failed
		}
	}
	return nil, cmp.Or(refused, failed, ctx.Err())
}

// errRefused: a host lives, and does not serve this data directory, or nobody any more.
var errRefused = errors.New("the host process refuses")

// incompatibleError is about a host that must not be replaced.
type incompatibleError struct{ reason string }

func (e *incompatibleError) Error() string { return e.reason }

// connect opens a link through the socket in runDir.
func connect(runDir, dataDir string) (*link, error) {
	conn, welcome, err := greet(runDir, wire.Hello{Protocol: wire.Protocol, Dir: dataDir})
	if err != nil {
		return nil, err
	}
	if welcome.Refused == "" {
		return newLink(conn, welcome), nil
	}
	peer, err := conn.Peer()
	conn.Close()
	if err != nil {
		return nil, err
	}
	if welcome.Protocol == wire.Protocol {
		return nil, fmt.Errorf("%w (%d): %s", errRefused, peer.Pid, welcome.Refused)
	}
	if welcome.Live > 0 {
		return nil, &incompatibleError{fmt.Sprintf("host process %d is of another version of stint (%s) and runs "+
			"%d containers: let them end under that version, or end the process and lose them",
			peer.Pid, welcome.Refused, welcome.Live)}
	}
	conn, _, err = greet(runDir, wire.Hello{Protocol: wire.Protocol, Dir: dataDir, Replace: true})
	if err != nil {
		return nil, err
	}
	conn.Close()
	return nil, errors.New("the host process makes room for one of this version")
}

func greet(runDir string, hello wire.Hello) (*wire.Conn, wire.Welcome, error) {
	var welcome wire.Welcome
	address := &net.UnixAddr{Name: filepath.Join(runDir, host.SocketName), Net: "unix"}
	socket, err := net.DialUnix("unix", nil, address)
	if err != nil {
		return nil, welcome, err
	}
	conn := wire.NewConn(socket)
	// A host that was stopped must not stop us too.
	_ = socket.SetDeadline(time.Now().Add(startPatience))
	err = conn.CheckPeer()
	if err == nil {
		err = conn.Send(hello)
	}
	if err == nil {
		err = conn.Receive(&welcome)
	}
	if err != nil {
		conn.Close()
		return nil, welcome, err
	}
	_ = socket.SetDeadline(time.Time{})
	return conn, welcome, nil
}
