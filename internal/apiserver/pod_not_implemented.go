package apiserver

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
)

// notImplementedREST refuses subresources that are not implemented yet. Without it clients would get NotFound, as if the
// pod did not exist.
type notImplementedREST struct{ subresource string }

func (notImplementedREST) New() runtime.Object { return &corev1.Pod{} }

// Destroy does nothing: there is no storage.
func (notImplementedREST) Destroy() {}

// ConnectMethods implements rest.Connecter.
func (notImplementedREST) ConnectMethods() []string { return []string{http.MethodGet, http.MethodPost} }

// NewConnectOptions implements rest.Connecter.
func (notImplementedREST) NewConnectOptions() (runtime.Object, bool, string) { return nil, false, "" }

// Connect implements rest.Connecter.
func (m notImplementedREST) Connect(context.Context, string, runtime.Object, rest.Responder) (http.Handler, error) {
	return nil, &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusNotImplemented,
		Reason:  metav1.StatusReason("NotImplemented"),
		Message: fmt.Sprintf("pods/%s is not supported by this release of Stint", m.subresource),
	}}
}
