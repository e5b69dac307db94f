// Package config reads the ConfigMaps and Secrets that pods refer to.
//
// A missing object does not fail the pod: callers retry later.
package config

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/stint-dev/stint/internal/client"
)

// Reader reads from one API server.
type Reader struct {
	Client client.Interface
}

// ConfigMap returns nil, and no error, where an optional ConfigMap is missing.
func (r Reader) ConfigMap(ctx context.Context, namespace, name string, optional *bool) (*corev1.ConfigMap, error) {
	m, err := r.Client.ConfigMaps().Get(ctx, namespace, name)
	if apierrors.IsNotFound(err) {
		if optional != nil && *optional {
			return nil, nil
		}
		return nil, fmt.Errorf("configmap %q not found", name)
	}
	if err != nil {
		return nil, fmt.Errorf("read configmap %q: %w", name, err)
	}
	return m, nil
}

// Secret returns nil, and no error, where an optional Secret is missing.
func (r Reader) Secret(ctx context.Context, namespace, name string, optional *bool) (*corev1.Secret, error) {
	s, err := r.Client.Secrets().Get(ctx, namespace, name)
	if apierrors.IsNotFound(err) {
		if optional != nil && *optional {
			return nil, nil
		}
		return nil, fmt.Errorf("secret %q not found", name)
	}
	if err != nil {
		return nil, fmt.Errorf("read secret %q: %w", name, err)
	}
	return s, nil
}
