package archive

import (
	"errors"
	"fmt"

	"github.com/stint-dev/stint/internal/image/store"
)

// dockerImage is an image in the manifest.json of docker save: the files of its configuration and its layers.
type dockerImage struct {
	Config   string
	RepoTags []string
	Layers   []string
}

func readDocker(from files, do func(Image) error) error {
	const name = "manifest.json"
	data, _, err := read(from, name)
	if err != nil {
		return err
	}
	var images []dockerImage
	if err := unmarshal(name, data, &images); err != nil {
		return err
	}
	if len(images) == 0 {
		return fmt.Errorf("its %s names no image", name)
	}
	names := 0
	for _, d := range images {
		if names += len(d.RepoTags); names > maxNames {
			return fmt.Errorf("its images have more than %d names: save fewer images in one archive", maxNames)
		}
		if len(d.RepoTags) == 0 && len(images) > 1 {
			return errors.New("an archive of several images must name each of them")
		}
		image, err := d.in(from)
		if err != nil {
			return err
		}
		if err := do(image); err != nil {
			return err
		}
	}
	return nil
}

// in returns the image. The digest of its configuration takes the place of the one of its manifest, which it does not have.
func (d dockerImage) in(from files) (Image, error) {
	config, digest, err := read(from, d.Config)
	if err != nil {
		return Image{}, err
	}
	image := Image{store.Source{Digest: digest, Config: config}, d.RepoTags}
	for _, name := range d.Layers {
		l, err := layerIn(from, name)
		if err != nil {
			return Image{}, err
		}
		image.Layers = append(image.Layers, l)
	}
	return image, nil
}
