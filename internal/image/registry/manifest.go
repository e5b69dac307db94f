package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/stint-dev/stint/internal/image/bounded"
)

// document is a manifest or an index.
type document struct {
	digest v1.Hash
	bytes  []byte

	mediaType types.MediaType
	// Either index or image is set.
	index *v1.IndexManifest
	image *v1.Manifest
}

// parseDocument parses a manifest or index that a registry sent with this content type.
func parseDocument(contentType types.MediaType, data []byte) (*document, error) {
	var shape struct {
		SchemaVersion int             `json:"schemaVersion"`
		MediaType     types.MediaType `json:"mediaType"`
		Manifests     json.RawMessage `json:"manifests"`
		Layers        json.RawMessage `json:"layers"`
		FSLayers      json.RawMessage `json:"fsLayers"`
	}
	if err := unmarshal(data, &shape, "the manifest", "is not JSON"); err != nil {
		return nil, err
	}
	d := &document{bytes: data, mediaType: shape.MediaType}
	if d.mediaType == "" {
		d.mediaType = contentType
	}
	switch {
	case shape.SchemaVersion == 1 || d.mediaType.IsSchema1() || shape.FSLayers != nil:
		return nil, unsupported("its manifest is of schema 1, which Docker gave up in 2017; push the image again")
	case shape.Manifests != nil && shape.Layers != nil:
		// Two programs could read it as two different things.
		return nil, unsupported("the manifest says that it is both an image and an index")
	case d.mediaType.IsIndex() && shape.Layers == nil:
		return d, d.decode(&d.index)
	case d.mediaType.IsImage() && shape.Manifests == nil:
		return d, d.decode(&d.image)
	}
	return nil, unsupportedType("the manifest is of type", string(d.mediaType))
}

func (d *document) decode(into any) error {
	return unmarshal(d.bytes, into, "the manifest", "is damaged")
}

// unmarshal parses a document. If it cannot, the error says what is wrong with which document.
func unmarshal(data []byte, into any, which, wrong string) error {
	err := bounded.Unmarshal(data, into)
	var limit *bounded.Error
	switch {
	case errors.As(err, &limit):
		return tooLarge(which, limit)
	case err != nil:
		return unsupported("%s %s", which, wrong)
	}
	return nil
}

func tooLarge(which string, limit error) error {
	return &Error{Kind: ErrTooLarge, Detail: which + ": " + limit.Error()}
}

// checkImage returns an error unless m describes an image that a container can run.
func checkImage(m *v1.Manifest) error {
	if m.ArtifactType != "" || !slices.Contains(configs, m.Config.MediaType) {
		kind := m.ArtifactType
		if kind == "" {
			kind = string(m.Config.MediaType)
		}
		return unsupportedType("it is an artifact and not an image of a container, of type", kind)
	}
	for _, l := range append([]v1.Descriptor{m.Config}, m.Layers...) {
		if l.Size < 0 || !known(l.Digest) {
			return unsupported("the manifest has a layer or configuration without a size or a sha256 digest")
		}
	}
	return nil
}

// layers returns the layers of m. It fails if one cannot be unpacked, such as an encrypted one.
func layers(m *v1.Manifest) ([]Layer, error) {
	list := make([]Layer, 0, len(m.Layers))
	for i, d := range m.Layers {
		if !slices.Contains(layerTypes, d.MediaType) {
			return nil, unsupportedType(fmt.Sprintf("layer %d is of type", i+1), string(d.MediaType))
		}
		list = append(list, Layer{Digest: d.Digest, Size: d.Size})
	}
	return list, nil
}
