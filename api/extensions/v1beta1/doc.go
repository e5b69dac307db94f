// Package v1beta1 is the Job of group extensions, the form that Jobs had before batch/v1: the author of a Job names the
// labels that its pods are selected by, unless spec.autoSelector asks for generated ones. In batch/v1 it is the other
// way round, and spec.manualSelector asks for labels of one's own. All else is as in batch/v1.
//
// Stint's server serves both versions of the same stored objects. Deepcopy functions and OpenAPI are generated from
// this package: make generate.
//
// +kubebuilder:object:generate=true
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=io.k8s.api.extensions.v1beta1
package v1beta1

//go:generate go tool -modfile=../../../tools/generate/go.mod controller-gen object paths=.
