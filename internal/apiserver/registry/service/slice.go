package service

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

// Slice describes EndpointSlices.
func Slice() kinds.Resource {
	return kinds.Resource{
		Version:  discoveryv1.SchemeGroupVersion,
		Kind:     "EndpointSlice",
		Plural:   "endpointslices",
		Singular: "endpointslice",
		New:      func() runtime.Object { return &discoveryv1.EndpointSlice{} },
		NewList:  func() runtime.Object { return &discoveryv1.EndpointSliceList{} },

		Default: func(obj runtime.Object) {
			for i := range obj.(*discoveryv1.EndpointSlice).Ports {
				setSlicePortDefaults(&obj.(*discoveryv1.EndpointSlice).Ports[i])
			}
		},
		PrepareForCreate: func(_ context.Context, obj runtime.Object) {
			s := obj.(*discoveryv1.EndpointSlice)
			s.Generation = 1
			dropTopology(s)
		},
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			return validateSlice(obj.(*discoveryv1.EndpointSlice))
		},
		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			s, was := obj.(*discoveryv1.EndpointSlice), old.(*discoveryv1.EndpointSlice)
			dropTopology(s)
			s.Generation = was.Generation
			if !sameContent(s, was) {
				s.Generation++
			}
		},
		ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
			return validateSliceUpdate(obj.(*discoveryv1.EndpointSlice), old.(*discoveryv1.EndpointSlice))
		},
		WarningsOnCreate: func(_ context.Context, obj runtime.Object) []string {
			return warnSlice(obj.(*discoveryv1.EndpointSlice))
		},
		Columns: sliceColumns,
		Row:     sliceRow,
	}
}

func setSlicePortDefaults(p *discoveryv1.EndpointPort) {
	if p.Name == nil {
		p.Name = ptr.To("")
	}
	if p.Protocol == nil {
		p.Protocol = ptr.To(corev1.ProtocolTCP)
	}
}

// dropTopology drops a field that only an older version of the API writes.
func dropTopology(s *discoveryv1.EndpointSlice) {
	for i := range s.Endpoints {
		s.Endpoints[i].DeprecatedTopology = nil
	}
}

// sameContent reports whether two versions have the same endpoints behind the same Service.
func sameContent(a, b *discoveryv1.EndpointSlice) bool {
	return a.AddressType == b.AddressType && apiequality.Semantic.DeepEqual(a.Endpoints, b.Endpoints) &&
		apiequality.Semantic.DeepEqual(a.Ports, b.Ports) && apiequality.Semantic.DeepEqual(a.Labels, b.Labels)
}

func warnSlice(s *discoveryv1.EndpointSlice) []string {
	if s.AddressType != discoveryv1.AddressTypeFQDN {
		return nil
	}
	return []string{"spec.addressType: FQDN endpoints are deprecated: use IPv4"}
}
