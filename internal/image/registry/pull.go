package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// Platform is this machine's.
func Platform() v1.Platform { return v1.Platform{OS: "linux", Architecture: runtime.GOARCH} }

// Image asks the registry for the image of a name, with the credentials of the user's Docker or Podman. Its layers are
// fetched when they are read, and checked against their digests.
func Image(ctx context.Context, r Reference) (v1.Image, error) {
	image, err := remote.Image(r.ref, remote.WithContext(ctx), remote.WithPlatform(Platform()),
		remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithUserAgent("stint"))
	if err != nil {
		return nil, fmt.Errorf("pull %s: %w", r, explain(err))
	}
	return image, nil
}

// ErrNotFound and ErrDenied are what registries answer of images.
var (
	ErrNotFound = errors.New("the registry has no such image")
	ErrDenied   = errors.New("the registry denies access, or has no such image")
)

func explain(err error) error {
	var answer *transport.Error
	if !errors.As(err, &answer) {
		return err
	}
	switch answer.StatusCode {
	case http.StatusNotFound:
		return ErrNotFound
	case http.StatusUnauthorized, http.StatusForbidden:
		return ErrDenied
	case http.StatusTooManyRequests:
		return errors.New("the registry has had too many requests; try later, or log in")
	}
	return err
}
