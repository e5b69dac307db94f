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
	"github.com/stint-dev/stint/internal/node/process/rundir"
	"github.com/stint-dev/stint/internal/node/process/wire"
)

// establish connects to the host of the data directory, or starts one.
func establish(ctx context.Context, l *launcher) (*link, error) {
	limited, cancel := context.WithTimeout(ctx, l.config.StartTimeout)
	defer cancel()
	var refused *refusedError
	for {
		dir, err := rundir.FindOrMake(l.config.Dir)
		if err != nil {
			return nil, err
		}
		link, err := connect(limited, dir, l.config.Dir, l.preferredProgram())
		if err == nil {
			link.runDir, link.child = dir, l.startedHost(link)
			return link, nil
		}
		if errors.As(err, &refused) && refused.stays {
			return nil, err
		}
		if errors.Is(err, errOtherDirectory) {
			if err := rundir.Leave(l.config.Dir, dir); err != nil {
				return nil, err
			}
			continue
		}
		failed := l.advance(limited, dir)
		switch {
		case errors.Is(failed, errNoIsolationLevel), errors.Is(failed, errOrphanUsed):
			return nil, failed
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case limited.Err() != nil:
			if refused != nil {
				err = refused
			}
			l.killStarted()
			return nil, fmt.Errorf("it has not answered within %s: %w; if this machine is that slow, allow more with --start-timeout",
				l.config.StartTimeout, cmp.Or(failed, err))
		}
	}
}

// errOtherDirectory means that the host has the containers of another data directory. That was moved away or deleted, and this
// one is a copy of it.
var errOtherDirectory = errors.New("the host process is that of another data directory")

// errEnds means that a host has agreed to end.
var errEnds = errors.New("the host process ends, to be replaced by one of this version")

// refusedError means that a host runs which does not serve this control plane.
type refusedError struct {
	reason string
	// stays is whether the host is busy, and so does not end to be replaced.
	stays bool
}

func (e *refusedError) Error() string { return e.reason }

// connect opens a link through the socket in runDir. If the host was started from another program than preferred, and has
// no containers, it is asked to end so that it can be replaced. An empty preferred is any program.
func connect(ctx context.Context, runDir, dataDir, preferred string) (*link, error) {
	conn, welcome, err := greetOwn(ctx, runDir, dataDir)
	if err == nil && welcome.Refused == "" && welcome.Live == 0 && preferred != "" && welcome.Program != preferred {
		conn.Close()
		conn, welcome, err = replace(ctx, runDir, dataDir)
	}
	if err != nil {
		return nil, err
	}
	if welcome.Refused == "" {
		return newLink(conn, withDefaults(welcome)), nil
	}
	peer, err := conn.Peer()
	conn.Close()
	if err != nil {
		return nil, err
	}
	if welcome.Protocol == wire.Protocol {
		return nil, &refusedError{stays: welcome.Stays,
			reason: fmt.Sprintf("the host process refuses (%d): %s", peer.Pid, welcome.Refused)}
	}
	if welcome.Live > 0 {
		return nil, &refusedError{stays: true, reason: fmt.Sprintf("host process %d is of another version of stint (%s) and runs "+
			"%d containers: let them end under that version, or end the process and lose them",
			peer.Pid, welcome.Refused, welcome.Live)}
	}
	conn, _, err = greet(ctx, runDir, wire.Hello{Protocol: wire.Protocol, Dir: dataDir, Replace: true})
	if err != nil {
		return nil, err
	}
	conn.Close()
	return nil, errEnds
}

// maxReplaceTries is how often an idle host is asked to end. It may not have noticed yet that this control plane has closed
// its former connection.
const maxReplaceTries = 20

// replace asks a host of another version, which may lack features of this one, to end if it is idle. Otherwise it connects
// to that host.
func replace(ctx context.Context, runDir, dataDir string) (conn *wire.Conn, w wire.Welcome, err error) {
	for range maxReplaceTries {
		conn, w, err = greet(ctx, runDir, wire.Hello{Protocol: wire.Protocol, Dir: dataDir, Replace: true})
		switch {
		case err != nil:
			return nil, w, err
		case w.Refused != "":
			conn.Close()
			return nil, w, errEnds
		case w.Live > 0:
			return conn, w, nil
		}
		conn.Close()
	}
	return greet(ctx, runDir, wire.Hello{Protocol: wire.Protocol, Dir: dataDir})
}

// greetOwn greets the host unless it has another data directory than this control plane, whatever their paths.
func greetOwn(ctx context.Context, runDir, dataDir string) (*wire.Conn, wire.Welcome, error) {
	id, err := rundir.ID(dataDir)
	if err != nil {
		return nil, wire.Welcome{}, err
	}
	conn, welcome, err := greet(ctx, runDir, wire.Hello{Protocol: wire.Protocol, Dir: dataDir})
	if err == nil && welcome.DataDir != "" && welcome.DataDir != id {
		conn.Close()
		return nil, welcome, errOtherDirectory
	}
	return conn, welcome, err
}

// withDefaults fills in fields that a host of an older version does not send.
func withDefaults(w wire.Welcome) wire.Welcome {
	if !w.Info.CanRunImages && w.Program == "" {
		w.Info.WhyNoImages = "the host process of the containers is of an older version of stint; " +
			"let the containers end, and start the server again"
	}
	return w
}

// greet asks the host to serve this control plane. A host that is stopped (SIGSTOP) does not answer, so greet waits no
// longer than ctx.
func greet(ctx context.Context, runDir string, hello wire.Hello) (*wire.Conn, wire.Welcome, error) {
	var welcome wire.Welcome
	address := &net.UnixAddr{Name: filepath.Join(runDir, host.SocketName), Net: "unix"}
	socket, err := net.DialUnix("unix", nil, address)
	if err != nil {
		return nil, welcome, err
	}
	conn := wire.NewConn(socket)
	answered := context.AfterFunc(ctx, func() { _ = socket.SetDeadline(time.Unix(1, 0)) })
	err = conn.CheckPeer()
	if err == nil {
		err = conn.Send(hello)
	}
	if err == nil {
		err = conn.Receive(&welcome)
	}
	if !answered() {
		err = cmp.Or(err, ctx.Err())
	}
	if err != nil {
		conn.Close()
		return nil, welcome, err
	}
	return conn, welcome, nil
}
