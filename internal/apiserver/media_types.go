package apiserver

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// withoutProtobuf is the serializer of a group whose types have no protobuf form. Clients that prefer protobuf and accept
// JSON get JSON. Clients that send or accept only protobuf get an error with the supported media types.
type withoutProtobuf struct{ runtime.NegotiatedSerializer }

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (s withoutProtobuf) SupportedMediaTypes() []runtime.SerializerInfo {
	return slices.DeleteFunc(slices.Clone(s.NegotiatedSerializer.SupportedMediaTypes()), func(info runtime.SerializerInfo) bool {
		return info.MediaType == runtime.ContentTypeProtobuf
	})
}
