// Package v1 is Stint's own API, group stint.dev: ScheduledJobs, which run a Job again and again or on demand.
//
// The same types are served by stint server and, through a CustomResourceDefinition, by any Kubernetes cluster. Deepcopy
// functions, OpenAPI and the CustomResourceDefinitions are generated from this package: make generate.
//
// +kubebuilder:object:generate=true
// +groupName=stint.dev
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=dev.stint.v1
package v1

//go:generate go tool -modfile=../../../tools/generate/go.mod controller-gen object paths=.
