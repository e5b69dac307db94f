package archive

import (
	"errors"
	"fmt"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/stint-dev/stint/internal/image/registry"
)

// nameAnnotations are annotations with the name of an image in a layout, the most complete name first.
var nameAnnotations = []string{"io.containerd.image.name", "org.opencontainers.image.ref.name"}

func readLayout(dir string, do func(Image) error) error {
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return fmt.Errorf("%s is not an OCI layout: %w", dir, err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	found := false
	for _, d := range manifest.Manifests {
		image, err := imageOf(index, d)
		if err != nil {
			return err
		}
		if image == nil {
			continue
		}
		found = true
		if err := do(Image{image, namesOf(d)}); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("%s has no image for linux/%s", dir, runtime.GOARCH)
	}
	return nil
}

func namesOf(d v1.Descriptor) []string {
	for _, key := range nameAnnotations {
		if n := d.Annotations[key]; n != "" {
			return []string{n}
		}
	}
	return nil
}

// imageOf returns the image of a descriptor; nil if there is none that this machine can run.
func imageOf(index v1.ImageIndex, d v1.Descriptor) (v1.Image, error) {
	switch {
	case d.MediaType.IsIndex():
		below, err := index.ImageIndex(d.Digest)
		if err != nil {
			return nil, err
		}
		manifest, err := below.IndexManifest()
		if err != nil {
			return nil, err
		}
		mine, err := registry.Choose(manifest.Manifests)
		if errors.Is(err, registry.ErrNoPlatform) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return below.Image(mine.Digest)
	case !d.MediaType.IsImage():
		return nil, nil
	case d.Platform != nil && !registry.Runs(*d.Platform):
		return nil, nil
	case len(d.Digest.Hex) == 0:
		return nil, errors.New("an image without a digest")
	}
	return index.Image(d.Digest)
}
