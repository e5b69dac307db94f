package registry

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

const (
	eventsAreKept     = time.Hour
	maxEventField     = 128
	maxEventNoteBytes = 1024
)

// Event describes events. The server also stores the events of events.k8s.io in this form.
func Event() kinds.Resource {
	return kinds.Resource{
		Version:    corev1.SchemeGroupVersion,
		Kind:       "Event",
		Plural:     "events",
		Singular:   "event",
		ShortNames: []string{"ev"},
		TTL:        eventsAreKept,
		Uncached:   true,
		New:        func() runtime.Object { return &corev1.Event{} },
		NewList:    func() runtime.Object { return &corev1.EventList{} },
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			return validateEvent(obj.(*corev1.Event))
		},
		ValidateUpdate: func(_ context.Context, obj, _ runtime.Object) field.ErrorList {
			return validateEvent(obj.(*corev1.Event))
		},
		SelectableFields: eventFields(),
		Columns:          eventColumns,
		Row:              eventRow,
	}
}

func eventFields() []kinds.SelectableField {
	field := func(name string, value func(*corev1.Event) string) kinds.SelectableField {
		return kinds.SelectableField{Name: name, Value: func(obj runtime.Object) string { return value(obj.(*corev1.Event)) }}
	}
	return []kinds.SelectableField{
		field("involvedObject.kind", func(e *corev1.Event) string { return e.InvolvedObject.Kind }),
		field("involvedObject.namespace", func(e *corev1.Event) string { return e.InvolvedObject.Namespace }),
		field("involvedObject.name", func(e *corev1.Event) string { return e.InvolvedObject.Name }),
		field("involvedObject.uid", func(e *corev1.Event) string { return string(e.InvolvedObject.UID) }),
		field("involvedObject.apiVersion", func(e *corev1.Event) string { return e.InvolvedObject.APIVersion }),
		field("involvedObject.resourceVersion", func(e *corev1.Event) string { return e.InvolvedObject.ResourceVersion }),
		field("involvedObject.fieldPath", func(e *corev1.Event) string { return e.InvolvedObject.FieldPath }),
		field("reason", func(e *corev1.Event) string { return e.Reason }),
		field("reportingComponent", func(e *corev1.Event) string { return e.ReportingController }),
		field("source", eventComponent),
		field("type", func(e *corev1.Event) string { return e.Type }),
	}
}

// eventComponent returns the component that reported the event. Old and new clients set it in different fields.
func eventComponent(e *corev1.Event) string {
	if e.Source.Component != "" {
		return e.Source.Component
	}
	return e.ReportingController
}

func validateEvent(e *corev1.Event) field.ErrorList {
	var errs field.ErrorList
	at := field.NewPath("involvedObject", "namespace")
	switch namespace := e.InvolvedObject.Namespace; {
	case namespace == "" && e.Namespace != "" && e.Namespace != metav1.NamespaceDefault:
		errs = append(errs, field.Invalid(at, namespace, "does not match event.namespace: events of objects without a namespace belong in default"))
	case namespace != "" && namespace != e.Namespace:
		errs = append(errs, field.Invalid(at, namespace, "does not match event.namespace"))
	}
	if e.EventTime.IsZero() {
		return errs // Old clients do not set eventTime and the fields below.
	}
	for _, f := range []struct{ name, value string }{
		{"reportingComponent", e.ReportingController}, {"reportingInstance", e.ReportingInstance},
		{"action", e.Action}, {"reason", e.Reason},
	} {
		if f.value == "" {
			errs = append(errs, field.Required(field.NewPath(f.name), "must be set"))
		}
		if len(f.value) > maxEventField {
			errs = append(errs, field.TooLong(field.NewPath(f.name), "", maxEventField))
		}
	}
	if e.ReportingController != "" {
		errs = append(errs, check.Invalid(field.NewPath("reportingComponent"), e.ReportingController, validation.IsQualifiedName(e.ReportingController))...)
	}
	if len(e.Message) > maxEventNoteBytes {
		errs = append(errs, field.TooLong(field.NewPath("message"), "", maxEventNoteBytes))
	}
	return errs
}

var eventColumns = []metav1.TableColumnDefinition{
	{Name: "Last Seen", Type: "string", Description: corev1.Event{}.SwaggerDoc()["lastTimestamp"]},
	{Name: "Type", Type: "string", Description: corev1.Event{}.SwaggerDoc()["type"]},
	{Name: "Reason", Type: "string", Description: corev1.Event{}.SwaggerDoc()["reason"]},
	{Name: "Object", Type: "string", Description: corev1.Event{}.SwaggerDoc()["involvedObject"]},
	{Name: "Subobject", Type: "string", Priority: 1, Description: corev1.ObjectReference{}.SwaggerDoc()["fieldPath"]},
	{Name: "Source", Type: "string", Priority: 1, Description: corev1.Event{}.SwaggerDoc()["source"]},
	{Name: "Message", Type: "string", Description: corev1.Event{}.SwaggerDoc()["message"]},
	{Name: "First Seen", Type: "string", Priority: 1, Description: corev1.Event{}.SwaggerDoc()["firstTimestamp"]},
	{Name: "Count", Type: "string", Priority: 1, Description: corev1.Event{}.SwaggerDoc()["count"]},
	{Name: "Name", Type: "string", Priority: 1, Format: "name", Description: metav1.ObjectMeta{}.SwaggerDoc()["name"]},
}

func eventRow(obj runtime.Object, now time.Time) []any {
	e := obj.(*corev1.Event)
	first := e.FirstTimestamp
	if first.IsZero() {
		first = metav1.NewTime(e.EventTime.Time)
	}
	last, count := e.LastTimestamp, e.Count
	switch {
	case e.Series != nil:
		last, count = metav1.NewTime(e.Series.LastObservedTime.Time), e.Series.Count
	case last.IsZero():
		last = first
	}
	return []any{
		kinds.Age(last, now),
		e.Type,
		e.Reason,
		eventObject(&e.InvolvedObject),
		e.InvolvedObject.FieldPath,
		eventSource(e),
		strings.TrimSpace(e.Message),
		kinds.Age(first, now),
		int64(max(count, 1)),
		e.Name,
	}
}

func eventObject(o *corev1.ObjectReference) string {
	if o.Name == "" {
		return strings.ToLower(o.Kind)
	}
	return fmt.Sprintf("%s/%s", strings.ToLower(o.Kind), o.Name)
}

func eventSource(e *corev1.Event) string {
	parts := []string{eventComponent(e)}
	if host := e.Source.Host; host != "" {
		parts = append(parts, host)
	} else if e.Source.Component == "" && e.ReportingInstance != "" {
		parts = append(parts, e.ReportingInstance)
	}
	return strings.Join(parts, ", ")
}
