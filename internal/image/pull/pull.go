// Package pull pulls images from registries into a store.
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

// Client returns a client with the registry logins of the user who runs this program, and this machine's settings for registries.
func Client() *registry.Client {
	return registry.New(registry.Config{Keychain: credentials.UserLogins(os.Getenv), HostsDirs: hosts.DefaultDirs(os.Getenv)})
}

// Image pulls an image into the store. It calls report, which may be nil, with its progress.
func Image(ctx context.Context, c *registry.Client, s *store.Store, ref registry.Reference, report func(store.Progress)) (store.Image, error) {
	ctx, end := context.WithCancel(ctx)
	defer end() // The connections, too.
	image, err := c.Resolve(ctx, ref)
	if err != nil {
		return store.Image{}, fmt.Errorf("pull %s: %w", ref, err)
	}
	added, err := s.Add(ctx, ref.String(), source(c, ref, image), report)
	if err != nil {
		return store.Image{}, fmt.Errorf("pull %s: %w", ref, image.WithoutSecrets(err))
	}
	return added, nil
}

func source(c *registry.Client, ref registry.Reference, image *registry.Image) store.Source {
	from := store.Source{Digest: image.Digest, Config: image.Config}
	for _, l := range image.Layers {
		from.Layers = append(from.Layers, store.Layer{
			Digest: l.Digest, Size: l.Size, Registry: ref.Registry,
			Fetch: func(ctx context.Context, file *os.File, report func(int64)) error {
				return c.Fetch(ctx, image, l, file, report)
			},
		})
	}
	return from
}
