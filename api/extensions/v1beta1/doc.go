// Package v1beta1 is the Job of group extensions, the form that Jobs had before batch/v1: the author of a Job chooses the
// labels that select its pods, unless spec.autoSelector asks for generated ones. batch/v1 generates them, unless
// spec.manualSelector is true. Everything else is as in batch/v1.
//
// Stint's server serves both versions of the same stored objects. Deepcopy functions and OpenAPI are generated from
// this package: make generate.
//
// +kubebuilder:object:generate=true
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=io.k8s.api.extensions.v1beta1
package v1beta1

//go:generate go tool -modfile=../../../tools/generate/go.mod controller-gen object paths=.
