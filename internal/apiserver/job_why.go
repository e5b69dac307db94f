package apiserver

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/endpoints/request"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/explanation"
	"github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podneeds"
)

// whyREST serves jobs/why.
type whyREST struct{ server *Server }

func (*whyREST) New() runtime.Object { return &stintv1.JobExplanation{} }

// Destroy does nothing: the stores belong to the Jobs, pods and events.
func (*whyREST) Destroy() {}

// GroupVersionKind implements rest.GroupVersionKindProvider, because the kind is in another group than Jobs.
func (*whyREST) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return stintv1.SchemeGroupVersion.WithKind("JobExplanation")
}

// Get implements rest.Getter.
func (r *whyREST) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	config := r.server.config.Jobs
	o := explanation.Observer{Client: r.server.client, Events: r.eventsAbout, Get: r.get, Settings: job.DefaultSettings(), NoController: config.NoController}
	if config.Settings != nil {
		o.Settings = *config.Settings
	}
	return o.Explain(ctx, request.NamespaceValue(ctx), name, time.Now())
}

// get reads an object that pods need.
func (r *whyREST) get(ctx context.Context, kind podneeds.Kind, namespace, name string) (metav1.Object, error) {
	switch kind {
	case podneeds.ConfigMap:
		return r.server.client.ConfigMaps().Get(ctx, namespace, name)
	case podneeds.Secret:
		return r.server.client.Secrets().Get(ctx, namespace, name)
	case podneeds.PersistentVolumeClaim:
		return r.server.client.PersistentVolumeClaims().Get(ctx, namespace, name)
	}
	account, err := r.server.serviceAccounts.Get(request.WithNamespace(ctx, namespace), name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return account.(*corev1.ServiceAccount), nil
}

func (r *whyREST) eventsAbout(ctx context.Context, namespace string, object types.UID) ([]corev1.Event, error) {
	list, err := r.server.events.List(request.WithNamespace(ctx, namespace), &metainternalversion.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("involvedObject.uid", string(object)),
	})
	if err != nil {
		return nil, err
	}
	return list.(*corev1.EventList).Items, nil
}

// JobOptions describes the Job controller, for explanations of Jobs.
type JobOptions struct {
	// Settings are the controller's settings; nil means the default settings.
	Settings *job.Settings
	// NoController is true if no Job controller runs.
	NoController bool
}
