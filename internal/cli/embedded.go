package cli

import (
	"context"
	"errors"
	"os"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/internal/store"
)

// embedded starts servers inside this process.
func embedded(o server.Options) target.Start {
	o.Version = stintVersion()
	return func(ctx context.Context) (target.Server, error) {
		s, err := server.Start(ctx, o)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}

// looking serves what a data directory holds.
func looking(o server.Options) target.Start {
	o.ReadOnly = true
	return withData(o)
}

var errNoData = errors.New("nothing has run there yet")

// withData starts servers only where there is data: a command that looks makes nothing.
func withData(o server.Options) target.Start {
	start := embedded(o)
	return func(ctx context.Context) (target.Server, error) {
		if !store.Exists(o.DataDir) {
			return nil, errNoData
		}
		return start(ctx)
	}
}

// describing serves what the kinds are like, which takes no data. Where there is none it uses a directory that goes with
// the server.
func describing(o server.Options) target.Start {
	if store.Exists(o.DataDir) {
		return looking(o)
	}
	return func(ctx context.Context) (target.Server, error) {
		dir, err := os.MkdirTemp("", "stint-")
		if err != nil {
			return nil, err
		}
		s, err := embedded(server.Options{DataDir: dir, ReadOnly: true})(ctx)
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
