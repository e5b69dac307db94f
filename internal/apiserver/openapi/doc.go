// Package openapi holds the OpenAPI definitions of every published type that the server speaks, generated from the
// doc comments of the Go types. `go generate ./internal/apiserver/openapi` writes them anew; nothing in the
// generated file is edited by hand.
//
// k8s.io/api/scheduling/v1alpha3 is here because batch/v1 refers to it.
package openapi

//go:generate go run k8s.io/kube-openapi/cmd/openapi-gen@v0.0.0-20260721132016-d427ff9ee9ad --output-dir . --output-pkg github.com/stint-dev/stint/internal/apiserver/openapi --output-file zz_generated.openapi.go --go-header-file header.txt --report-filename /dev/null --output-model-name-file zz_generated.model_name.go --readonly-pkg k8s.io/api/authentication/v1,k8s.io/api/authorization/v1,k8s.io/api/batch/v1,k8s.io/api/batch/v1beta1,k8s.io/api/coordination/v1,k8s.io/api/core/v1,k8s.io/api/events/v1,k8s.io/api/policy/v1,k8s.io/api/scheduling/v1alpha3,k8s.io/apimachinery/pkg/api/resource,k8s.io/apimachinery/pkg/apis/meta/v1,k8s.io/apimachinery/pkg/runtime,k8s.io/apimachinery/pkg/util/intstr,k8s.io/apimachinery/pkg/version k8s.io/api/core/v1 k8s.io/api/batch/v1 k8s.io/api/batch/v1beta1 k8s.io/api/scheduling/v1alpha3 k8s.io/api/events/v1 k8s.io/api/coordination/v1 k8s.io/api/policy/v1 k8s.io/api/authentication/v1 k8s.io/api/authorization/v1 k8s.io/apimachinery/pkg/apis/meta/v1 k8s.io/apimachinery/pkg/runtime k8s.io/apimachinery/pkg/version k8s.io/apimachinery/pkg/api/resource k8s.io/apimachinery/pkg/util/intstr github.com/stint-dev/stint/api/stint/v1 github.com/stint-dev/stint/api/extensions/v1beta1
