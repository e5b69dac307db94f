package registry

import (
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// maxDepth is how deep indexes may be nested.
const maxDepth = 3

// Image is the image of one platform, as its registry describes it.
type Image struct {
	// Digest is what the name refers to: the digest of the index, if there is one, else of the manifest.
	Digest v1.Hash
	// Config is the image's configuration, in JSON.
	Config []byte
	// Layers begin with the lowest.
	Layers []Layer

	// from is kept so that layers are downloaded over the connections, and with the credentials, that worked.
	from *source
}

// Layer is one layer as the registry has it, usually compressed.
type Layer struct {
	Digest v1.Hash
	Size   int64
}

// layerTypes are the media types of layers that can be unpacked. Layers that may not be pushed elsewhere (foreign,
// nondistributable) are downloaded from the registry like others; URLs that the manifest lists for them are ignored.
var layerTypes = []types.MediaType{
	types.DockerLayer, types.DockerForeignLayer, types.DockerUncompressedLayer,
	types.OCILayer, types.OCIRestrictedLayer, types.OCILayerZStd,
	types.OCIUncompressedLayer, types.OCIUncompressedRestrictedLayer,

	"application/vnd.docker.image.rootfs.diff.tar.zstd",
	"application/vnd.oci.image.layer.nondistributable.v1.tar+zstd",
	"application/vnd.docker.image.rootfs.foreign.diff.tar",
	"application/vnd.docker.image.rootfs.foreign.diff.tar.zstd",
}

// configs are the media types of the configurations of images. Docker 1.10 wrote the last one.
var configs = []types.MediaType{types.DockerConfigJSON, types.OCIConfigJSON, "application/octet-stream"}

// accepted are the media types of manifests that are requested. Schema 1 is among them so that a registry with nothing else
// sends it, and the error can say so.
var accepted = []types.MediaType{
	types.OCIImageIndex, types.DockerManifestList, types.OCIManifestSchema1, types.DockerManifestSchema2,
	types.DockerManifestSchema1Signed, types.DockerManifestSchema1,
}
