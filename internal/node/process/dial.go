package process

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/process/wire"
)

// Dial implements runtime.Runtime.
func (r *Runtime) Dial(ctx context.Context, pod types.UID, to netip.AddrPort) (net.Conn, error) {
	link, err := r.link.wait(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := dialCommand(ctx, link.runDir)
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	if err := c.start(wire.Hello{Protocol: wire.Protocol, Dir: r.config.Dir, Dial: &wire.Dial{Pod: pod, To: to}}); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	defer c.close()
	if len(c.files) > 0 {
		return net.FileConn(c.files[0])
	}
	var why wire.Exit
	if err := c.conn.Receive(&why); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	return nil, errors.New(why.Err)
}
