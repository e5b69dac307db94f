// Package embedded starts servers inside a command's process, for commands that find none to ask.
package embedded

import (
	"context"
	"errors"
	"os"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/cli/version"
	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/internal/store"
)

// Server starts servers inside this process.
func Server(o server.Options) target.Start {
	o.Version = version.Get()
	return func(ctx context.Context) (target.Server, error) {
		s, err := server.Start(ctx, o)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}

// ReadOnlyServer serves what a data directory holds.
func ReadOnlyServer(o server.Options) target.Start {
	o.ReadOnly = true
	return WithData(o)
}

// ErrNoData is that of a data directory which nothing has been kept in.
var ErrNoData = errors.New("nothing has run there yet")

// WithData starts servers only where there is data: a command that looks makes nothing.
func WithData(o server.Options) target.Start {
	start := Server(o)
	return func(ctx context.Context) (target.Server, error) {
		if !store.Exists(o.DataDir) {
			return nil, ErrNoData
		}
		return start(ctx)
	}
}

// DiscoveryServer serves what the kinds are like, which takes no data. Where there is none it uses a directory that goes with
// the server.
func DiscoveryServer(o server.Options) target.Start {
	if store.Exists(o.DataDir) {
		return ReadOnlyServer(o)
	}
	return func(ctx context.Context) (target.Server, error) {
		dir, err := os.MkdirTemp("", "stint-")
		if err != nil {
			return nil, err
		}
		s, err := Server(server.Options{DataDir: dir, ReadOnly: true})(ctx)
		if err != nil {
			return nil, errors.Join(err, removeScratch(dir))
		}
		return scratch{s, dir}, nil
	}
}

// scratch is a server whose data nobody needs.
type scratch struct {
	target.Server
	dir string
}

func (s scratch) Wait() error { return errors.Join(s.Server.Wait(), removeScratch(s.dir)) }

func removeScratch(dir string) error {
	d, err := beneath.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return errors.Join(d.Empty(), os.Remove(dir))
}
