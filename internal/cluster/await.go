package cluster

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

const (
	// awaitPause is the time between two requests to an API server that does not answer, answerTime the timeout of a request.
	awaitPause = time.Second
	answerTime = 10 * time.Second
)

// awaitAPI returns when the API server answers or ctx ends. It logs once that it waits.
func awaitAPI(ctx context.Context, config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.Timeout = answerTime
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	for told := false; ; told = true {
		_, err := server.ServerVersionWithContext(ctx)
		switch {
		case apierrors.IsUnauthorized(err):
			return fmt.Errorf("the API server at %s rejects these credentials: %w", config.Host, err)
		case err == nil, apierrors.IsForbidden(err), ctx.Err() != nil:
			return nil
		case !told:
			klog.FromContext(ctx).Info("Waiting for the API server", "server", config.Host, "reason", err.Error())
		}
		pause := time.NewTimer(awaitPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
		}
	}
}
