package images

import (
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/stint-dev/stint/internal/image/store"
)

// Source returns an image as what a store adds.
func Source(image v1.Image) (store.Source, error) {
	digest, err := image.Digest()
	if err != nil {
		return store.Source{}, err
	}
	config, err := image.RawConfigFile()
	if err != nil {
		return store.Source{}, err
	}
	layers, err := image.Layers()
	if err != nil {
		return store.Source{}, err
	}
	s := store.Source{Digest: digest, Config: config}
	for _, l := range layers {
		digest, err := l.Digest()
		if err != nil {
			return store.Source{}, err
		}
		size, err := l.Size()
		if err != nil {
			return store.Source{}, err
		}
		s.Layers = append(s.Layers, store.Layer{Digest: digest, Size: size, Open: l.Compressed})
	}
	return s, nil
}
