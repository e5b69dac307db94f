package prober

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Hook runs a lifecycle hook of the container, until it has ended or ctx does.
func (p *Prober) Hook(ctx context.Context, c Container, h *corev1.LifecycleHandler) error {
	switch {
	case h.Exec != nil:
		code, _, err := p.run(ctx, c, h.Exec.Command)
		if err == nil && code != 0 {
			err = fmt.Errorf("command %q exited with %d", h.Exec.Command, code)
		}
		return err
	case h.HTTPGet != nil:
		return p.httpHook(ctx, c, h.HTTPGet)
	case h.Sleep != nil:
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(h.Sleep.Seconds) * time.Second):
			return nil
		}
	}
	return errors.New("the hook has no handler that is known here")
}
