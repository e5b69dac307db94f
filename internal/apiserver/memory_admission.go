package apiserver

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

// memoryRetrySeconds is the time after which clients try again. kubectl does so ten times before it shows the error.
const memoryRetrySeconds = 1

// memoryAdmission refuses new objects while those that exist take up the memory of the server. Deletions and updates go on,
// so that Jobs finish and the memory becomes free.
type memoryAdmission struct {
	// exceeded returns why there is no memory for more objects, or nil.
	exceeded func() error
	// forget frees memory that no object needs.
	forget func()
	// isUncached reports whether objects of this kind take no memory.
	isUncached func(schema.GroupResource) bool
}

// Handles implements admission.Interface.
func (a *memoryAdmission) Handles(op admission.Operation) bool { return op == admission.Create }

// Admit implements admission.MutationInterface, because that runs before the object is validated.
func (a *memoryAdmission) Admit(_ context.Context, attrs admission.Attributes, _ admission.ObjectInterfaces) error {
	if attrs.GetSubresource() != "" {
		return nil // a binding or an eviction is no new object
	}
	return a.admitCreation(attrs.GetResource().GroupResource())
}

func (a *memoryAdmission) admitCreation(resource schema.GroupResource) error {
	if a.exceeded == nil || a.isUncached(resource) {
		return nil
	}
	err := a.exceeded()
	if err == nil {
		return nil
	}
	a.forget()
	return apierrors.NewTooManyRequests(
		fmt.Sprintf("no new %s: %v; delete finished Jobs, or start the server with a higher --memory-limit", resource.Resource, err),
		memoryRetrySeconds)
}

// admitCreation is for callers that do not use the HTTP handlers.
func (s *Server) admitCreation(ctx context.Context, resource schema.GroupResource, namespace, name string) error {
	if err := s.memory.admitCreation(resource); err != nil {
		return err
	}
	return s.admission.AdmitCreation(ctx, resource, namespace, name)
}
