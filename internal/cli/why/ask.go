// Package why is `stint why`: why a Job does not run, is not finished, or failed.
//
//	stint server      GET …/jobs/NAME/why ─┐
//	                                       ├──► JobExplanation ──► one screen of text, with the last lines of logs
//	any other         observed from here ──┘
//
// The explanation is computed in internal/job/explain, by the rules of the controllers. This package only requests and shows it.
package why

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/cli/absent"
	"github.com/stint-dev/stint/internal/client/remote"
	"github.com/stint-dev/stint/internal/explanation"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podneeds"
)

// Asker requests explanations from one server.
type Asker struct {
	config    *rest.Config
	clientset *kubernetes.Clientset
}

// NewAsker returns an Asker.
func NewAsker(config *rest.Config) (*Asker, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = "stint"
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &Asker{config: config, clientset: clientset}, nil
}

// Job returns the explanation of a Job: from the server, which knows the settings of its controller, or computed here for the
// time now.
func (a *Asker) Job(ctx context.Context, namespace, name string, now time.Time) (*stintv1.JobExplanation, error) {
	raw, err := a.clientset.BatchV1().RESTClient().Get().Namespace(namespace).Resource("jobs").Name(name).SubResource("why").
		SetHeader("Accept", "application/json").Do(ctx).Raw()
	switch {
	case err == nil:
		x := &stintv1.JobExplanation{}
		return x, json.Unmarshal(raw, x)
	case !unserved(err):
		return nil, err
	}
	client, err := remote.New(a.config)
	if err != nil {
		return nil, err
	}
	o := explanation.Observer{Client: client, Events: a.events, Get: a.get, Settings: core.DefaultSettings(), TimesAssumed: true}
	return o.Explain(ctx, namespace, name, now)
}

// unserved reports whether the server may not serve the subresource. A cluster returns Forbidden for an unknown subresource to
// users without rights to everything.
func unserved(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err)
}

// get reads an object that pods need.
func (a *Asker) get(ctx context.Context, kind podneeds.Kind, namespace, name string) (metav1.Object, error) {
	return absent.Get(ctx, a.clientset.CoreV1(), kind, namespace, name)
}

func (a *Asker) events(ctx context.Context, namespace string, object types.UID) ([]corev1.Event, error) {
	list, err := a.clientset.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("involvedObject.uid", string(object)).String(),
	})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
