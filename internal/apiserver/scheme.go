package apiserver

import (
	"errors"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	batchv1beta1 "k8s.io/api/batch/v1beta1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/stint-dev/stint/api/extensions/v1beta1"
	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	jobregistry "github.com/stint-dev/stint/internal/apiserver/registry/job"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

// published adds the API types that clients may send or get, even those whose resources are not served.
var published = runtime.SchemeBuilder{
	corev1.AddToScheme,
	batchv1.AddToScheme,
	batchv1beta1.AddToScheme,
	eventsv1.AddToScheme,
	coordinationv1.AddToScheme,
	nodev1.AddToScheme,
	policyv1.AddToScheme,
	storagev1.AddToScheme,
	metricsv1beta1.AddToScheme,
	authenticationv1.AddToScheme,
	authorizationv1.AddToScheme,
	stintv1.AddToScheme,
	v1beta1.AddToScheme,
}

// newOpenAPIScheme returns a scheme that has each type only in its published version. With the internal version too, the
// OpenAPI document would name types by that.
func newOpenAPIScheme(resources []kinds.Resource) (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := published.AddToScheme(scheme); err != nil {
		return nil, err
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	for _, r := range resources {
		scheme.AddKnownTypes(r.Version, r.New(), r.NewList())
		metav1.AddToGroupVersion(scheme, r.Version)
	}
	return scheme, nil
}

// newScheme returns a scheme that has each type in two versions: the published one, and the internal one that the library
// needs for storage and conversion. Both are the same Go type, so that conversions cost nothing and lose nothing.
func newScheme(resources []kinds.Resource) (*runtime.Scheme, error) {
	scheme, err := newOpenAPIScheme(resources)
	if err != nil {
		return nil, err
	}
	if err := metainternalversion.AddToScheme(scheme); err != nil {
		return nil, err
	}
	for _, r := range resources {
		scheme.AddKnownTypes(internal(r.Version.Group), r.New(), r.NewList())
		if r.Default != nil {
			scheme.AddTypeDefaultingFunc(r.New(), func(obj any) { r.Default(obj.(runtime.Object)) })
		}
		if err := addFieldLabels(scheme, r); err != nil {
			return nil, err
		}
		if err := addOlderVersion(scheme, r); err != nil {
			return nil, err
		}
	}
	scheme.AddKnownTypes(internal(""), &corev1.Binding{}, &corev1.PodLogOptions{}, &corev1.PodExecOptions{},
		&corev1.PodAttachOptions{}, &corev1.PodPortForwardOptions{})
	scheme.AddKnownTypes(batchv1.SchemeGroupVersion, &JobLogOptions{})
	scheme.AddKnownTypes(internal(policyv1.GroupName), &policyv1.Eviction{})
	scheme.AddKnownTypes(internal(stintv1.GroupName), &stintv1.ScheduledJobRun{}, &stintv1.JobExplanation{}, &stintv1.JobResults{})
	scheme.AddKnownTypes(internal(metricsv1beta1.GroupName), &metricsv1beta1.PodMetrics{}, &metricsv1beta1.PodMetricsList{},
		&metricsv1beta1.NodeMetrics{}, &metricsv1beta1.NodeMetricsList{})
	scheme.AddKnownTypes(internal(authenticationv1.GroupName), &authenticationv1.SelfSubjectReview{})
	scheme.AddKnownTypes(internal(authorizationv1.GroupName), &authorizationv1.SelfSubjectAccessReview{},
		&authorizationv1.SelfSubjectRulesReview{})
	if err := addEvents(scheme); err != nil {
		return nil, err
	}
	if err := addQueries(scheme); err != nil {
		return nil, err
	}
	return scheme, nil
}

// addOlderVersion adds the older version of a kind to the scheme, if it has one.
func addOlderVersion(scheme *runtime.Scheme, r kinds.Resource) error {
	switch r.Version.WithResource(r.Plural) {
	case batchv1.SchemeGroupVersion.WithResource("jobs"):
		return addJobV1beta1(scheme, jobregistry.V1beta1(r))
	case batchv1.SchemeGroupVersion.WithResource("cronjobs"):
		return addCronJobV1beta1(scheme, r)
	}
	return nil
}

func internal(group string) schema.GroupVersion {
	return schema.GroupVersion{Group: group, Version: runtime.APIVersionInternal}
}

func addConversion[In, Out any](scheme *runtime.Scheme, convert func(*In, *Out)) error {
	return scheme.AddConversionFunc((*In)(nil), (*Out)(nil), func(in, out any, _ conversion.Scope) error {
		convert(in.(*In), out.(*Out))
		return nil
	})
}

// addFieldLabels allows the field selectors of a kind. Others are refused.
func addFieldLabels(scheme *runtime.Scheme, r kinds.Resource) error {
	known := map[string]kinds.SelectableField{"metadata.name": {}}
	if !r.ClusterScoped {
		known["metadata.namespace"] = kinds.SelectableField{}
	}
	for _, f := range r.SelectableFields {
		known[f.Name] = f
	}
	convert := func(label, value string) (string, string, error) {
		f, ok := known[label]
		if !ok {
			return "", "", fmt.Errorf("field label not supported for %s: %s", r.Plural, label)
		}
		return label, f.StoredValue(value), nil
	}
	var errs []error
	for _, version := range r.Versions() {
		errs = append(errs, scheme.AddFieldLabelConversionFunc(version.WithKind(r.Kind), convert))
	}
	return errors.Join(errs...)
}
