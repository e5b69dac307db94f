package inprocess

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// eventSink writes the events of an event broadcaster.
type eventSink struct{ events resource[*corev1.Event] }

func (s eventSink) Create(event *corev1.Event) (*corev1.Event, error) {
	return s.events.Create(context.Background(), event)
}

func (s eventSink) Update(event *corev1.Event) (*corev1.Event, error) {
	return s.events.Modify(context.Background(), event, func(stored *corev1.Event) {
		version := stored.ObjectMeta
		event.DeepCopyInto(stored)
		stored.ObjectMeta = version
	})
}

// Patch writes the higher count of a repeated event.
func (s eventSink) Patch(event *corev1.Event, data []byte) (*corev1.Event, error) {
	ctx := context.Background()
	stored, err := s.events.Get(ctx, event.Namespace, event.Name)
	if err != nil {
		return nil, err
	}
	var patchErr error
	patched, err := s.events.Modify(ctx, stored, func(e *corev1.Event) { patchErr = patch(e, data) })
	if patchErr != nil {
		return nil, patchErr
	}
	return patched, err
}

func patch(event *corev1.Event, data []byte) error {
	original, err := json.Marshal(event)
	if err != nil {
		return err
	}
	merged, err := strategicpatch.StrategicMergePatch(original, data, event)
	if err != nil {
		return fmt.Errorf("patch event %s: %w", event.Name, err)
	}
	*event = corev1.Event{}
	return json.Unmarshal(merged, event)
}
