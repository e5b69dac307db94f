package registry

import (
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// maxManifest bounds manifests, indexes and configurations.
	maxManifest = 8 << 20
	// maxDepth is how deep an index may lie within indexes.
	maxDepth = 3
)

// Image is one platform's image of a name, as its registry describes it.
type Image struct {
	// Digest is that of what the name stands for: of the index, if there is one, else of the manifest.
	Digest v1.Hash
	// Config is what the image says of itself.
	Config []byte
	// Layers begin with the lowest.
	Layers []Layer

	// from is kept so that layers come over the connections, and with the credentials, that worked.
	from *source
}

// Layer is one layer as it lies in the registry.
type Layer struct {
	Digest v1.Hash
	Size   int64
}

// layerTypes are the layers that can be unpacked. Those that may not be pushed elsewhere (foreign, nondistributable) are
// asked of the registry like others; the URLs they may list are not followed.
var layerTypes = []types.MediaType{
	types.DockerLayer, types.DockerForeignLayer, types.DockerUncompressedLayer,
	types.OCILayer, types.OCIRestrictedLayer, types.OCILayerZStd,
	types.OCIUncompressedLayer, types.OCIUncompressedRestrictedLayer,

	"application/vnd.docker.image.rootfs.diff.tar.zstd",
	"application/vnd.oci.image.layer.nondistributable.v1.tar+zstd",
	"application/vnd.docker.image.rootfs.foreign.diff.tar",
	"application/vnd.docker.image.rootfs.foreign.diff.tar.zstd",
}

// configs are the configurations of images. Docker 1.10 wrote the last.
var configs = []types.MediaType{types.DockerConfigJSON, types.OCIConfigJSON, "application/octet-stream"}

// accepted are the manifests that are asked for. Those of schema 1 are among them so that a registry which has nothing
// else sends it, and the error can say so.
var accepted = []types.MediaType{
	types.OCIImageIndex, types.DockerManifestList, types.OCIManifestSchema1, types.DockerManifestSchema2,
	types.DockerManifestSchema1Signed, types.DockerManifestSchema1,
}
