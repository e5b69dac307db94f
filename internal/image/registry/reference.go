// Package registry fetches images from registries.
package registry

import (
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// Reference is the name of an image.
type Reference struct{ ref name.Reference }

// Parse reads a name as manifests have it. What it leaves out is Docker's: perl is docker.io/library/perl:latest.
func Parse(text string) (Reference, error) {
	ref, err := name.ParseReference(text, name.WeakValidation)
	if err != nil {
		return Reference{}, fmt.Errorf("%q is not the name of an image: %w", text, err)
	}
	return Reference{ref}, nil
}

// The registry of names that tell none, as its API and as people call it.
const (
	dockerAPI = "index.docker.io/"
	dockerHub = "docker.io/"
)

// String is the full name.
func (r Reference) String() string {
	full := r.ref.Name()
	if rest, ok := strings.CutPrefix(full, dockerAPI); ok {
		return dockerHub + rest
	}
	return full
}

// Repository is the full name without tag and digest.
func (r Reference) Repository() string {
	full := r.ref.Context().Name()
	if rest, ok := strings.CutPrefix(full, dockerAPI); ok {
		return dockerHub + rest
	}
	return full
}

// IsLatest reports whether the name stands for the newest image there is, whichever that may be.
func (r Reference) IsLatest() bool {
	tag, ok := r.ref.(name.Tag)
	return ok && tag.TagStr() == "latest"
}
