package dirclaim

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/stint-dev/stint/internal/cli/target"
)

// pollInterval is how often a deleted volume is asked for until it is gone.
const pollInterval = 50 * time.Millisecond

// Maker makes claims on a server of this machine.
type Maker struct {
	Core corev1client.CoreV1Interface
	// Caller formats the commands in errors.
	Caller target.Caller
}

// Check returns the error by which Make would fail, and changes nothing.
func (m Maker) Check(ctx context.Context, namespace string, c Claim) error {
	_, _, err := m.next(ctx, namespace, c)
	return err
}

// Make makes a claim and its volume, as far as they do not exist. It reads both again after every change, as another run may
// make the same claim.
func (m Maker) Make(ctx context.Context, namespace string, c Claim) error {
	for {
		next, volume, err := m.next(ctx, namespace, c)
		if err != nil || next == done {
			return err
		}
		if err := m.take(ctx, next, namespace, c, volume); err != nil {
			return fmt.Errorf("%s: %w", c.Flag, err)
		}
	}
}

func (m Maker) next(ctx context.Context, namespace string, c Claim) (step, *corev1.PersistentVolume, error) {
	claim, err := m.Core.PersistentVolumeClaims(namespace).Get(ctx, c.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		claim, err = nil, nil
	}
	if err != nil {
		return done, nil, fmt.Errorf("%s: %w", c.Flag, err)
	}
	volume, err := m.Core.PersistentVolumes().Get(ctx, c.VolumeName(namespace), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		volume, err = nil, nil
	}
	if err != nil {
		return done, nil, fmt.Errorf("%s: %w", c.Flag, err)
	}
	next, err := c.next(namespace, claim, volume, m.Caller)
	return next, volume, err
}

// take takes a step. It is no error if it has been taken already, or if the volume has changed.
func (m Maker) take(ctx context.Context, next step, namespace string, c Claim, volume *corev1.PersistentVolume) error {
	switch next {
	case makeVolume:
		_, err := m.Core.PersistentVolumes().Create(ctx, c.volume(namespace), metav1.CreateOptions{})
		return unless(apierrors.IsAlreadyExists, err)
	case makeClaim:
		_, err := m.Core.PersistentVolumeClaims(namespace).Create(ctx, c.claim(namespace), metav1.CreateOptions{})
		return unless(apierrors.IsAlreadyExists, err)
	case deleteVolume:
		err := m.Core.PersistentVolumes().Delete(ctx, volume.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &volume.UID, ResourceVersion: &volume.ResourceVersion}})
		return unless(apierrors.IsNotFound, unless(apierrors.IsConflict, err))
	case awaitDeletion:
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollInterval):
		}
	}
	return nil
}

func unless(harmless func(error) bool, err error) error {
	if harmless(err) {
		return nil
	}
	return err
}
