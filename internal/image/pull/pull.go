// Package pull brings images from registries into a store.
package pull

import (
	"context"
	"fmt"
	"os"

	"github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/image/registry/credentials"
	"github.com/stint-dev/stint/internal/image/registry/hosts"
	"github.com/stint-dev/stint/internal/image/store"
)

// Client is one with the logins of the user that this program runs for, and the hosts of this machine's registries.
func Client() *registry.Client {
	return registry.New(registry.Config{Keychain: credentials.UserLogins(os.Getenv), HostsDirs: hosts.DefaultDirs(os.Getenv)})
}

// Image puts what a name stands for into the store. Told, which may be nil, hears how far that is.
func Image(ctx context.Context, c *registry.Client, s *store.Store, ref registry.Reference, told func(store.Progress)) (store.Image, error) {
	image, err := c.Resolve(ctx, ref)
	if err != nil {
		return store.Image{}, fmt.Errorf("pull %s: %w", ref, err)
	}
	added, err := s.Add(ctx, ref.String(), source(c, image), told)
	if err != nil {
		return store.Image{}, fmt.Errorf("pull %s: %w", ref, err)
	}
	return added, nil
}

func source(c *registry.Client, image *registry.Image) store.Source {
	from := store.Source{Digest: image.Digest, Config: image.Config}
	for _, l := range image.Layers {
		from.Layers = append(from.Layers, store.Layer{
			Digest: l.Digest, Size: l.Size,
			Fetch: func(ctx context.Context, file *os.File, told func(int64)) error {
				return c.Fetch(ctx, image, l, file, told)
			},
		})
	}
	return from
}
