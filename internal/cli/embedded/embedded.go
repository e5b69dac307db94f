// Package embedded starts a server inside a command's process, for commands that find no running one.
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

// Server returns a function that starts a server inside this process.
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

// ReadOnlyServer is WithData for a server that runs nothing and changes nothing.
func ReadOnlyServer(o server.Options) target.Start {
	o.ReadOnly = true
	return WithData(o)
}

// ErrNoData means that a data directory has no store.
var ErrNoData = errors.New("nothing has run there yet")

// WithData is Server for commands that must not create a data directory: it fails with ErrNoData if there is no store.
func WithData(o server.Options) target.Start {
	start := Server(o)
	return func(ctx context.Context) (target.Server, error) {
		if !store.Exists(o.DataDir) {
			return nil, ErrNoData
		}
		return start(ctx)
	}
}

// DiscoveryServer returns a function that starts a server for discovery (kinds and their fields), which needs no data. If
// there is no data directory, the server uses a temporary one.
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

// scratch is a server with a temporary data directory.
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
	return errors.Join(d.Empty(context.Background()), os.Remove(dir))
}
