package apiserver

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// addEvents adds the events of events.k8s.io/v1 to the scheme. Both groups have one storage, in the form of core/v1, which
// has a field for every field of the other.
//
//	events.k8s.io/v1                core/v1
//	note                            message
//	regarding                       involvedObject
//	reportingController             reportingComponent
//	deprecatedSource, …First/Last   source, firstTimestamp, lastTimestamp
//	deprecatedCount                 count

func addEvents(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(internal(eventsv1.GroupName), &corev1.Event{}, &corev1.EventList{})
	return errors.Join(
		addConversion(scheme, func(in *corev1.Event, out *eventsv1.Event) { *out = eventFromCore(in) }),
		addConversion(scheme, func(in *eventsv1.Event, out *corev1.Event) { *out = eventToCore(in) }),
		addConversion(scheme, func(in *corev1.EventList, out *eventsv1.EventList) {
			out.ListMeta, out.Items = in.ListMeta, mapEvents(in.Items, eventFromCore)
		}),
		addConversion(scheme, func(in *eventsv1.EventList, out *corev1.EventList) {
			out.ListMeta, out.Items = in.ListMeta, mapEvents(in.Items, eventToCore)
		}),
		scheme.AddFieldLabelConversionFunc(eventsv1.SchemeGroupVersion.WithKind("Event"), eventFieldLabel),
	)
}

func mapEvents[From, To any](from []From, convert func(*From) To) []To {
	to := make([]To, len(from))
	for i := range from {
		to[i] = convert(&from[i])
	}
	return to
}

func eventFromCore(in *corev1.Event) eventsv1.Event {
	return eventsv1.Event{
		TypeMeta:                 in.TypeMeta,
		ObjectMeta:               in.ObjectMeta,
		EventTime:                in.EventTime,
		Series:                   seriesFromCore(in.Series),
		ReportingController:      in.ReportingController,
		ReportingInstance:        in.ReportingInstance,
		Action:                   in.Action,
		Reason:                   in.Reason,
		Regarding:                in.InvolvedObject,
		Related:                  in.Related,
		Note:                     in.Message,
		Type:                     in.Type,
		DeprecatedSource:         in.Source,
		DeprecatedFirstTimestamp: in.FirstTimestamp,
		DeprecatedLastTimestamp:  in.LastTimestamp,
		DeprecatedCount:          in.Count,
	}
}

func eventToCore(in *eventsv1.Event) corev1.Event {
	return corev1.Event{
		TypeMeta:            metav1.TypeMeta{},
		ObjectMeta:          in.ObjectMeta,
		EventTime:           in.EventTime,
		Series:              seriesToCore(in.Series),
		ReportingController: in.ReportingController,
		ReportingInstance:   in.ReportingInstance,
		Action:              in.Action,
		Reason:              in.Reason,
		InvolvedObject:      in.Regarding,
		Related:             in.Related,
		Message:             in.Note,
		Type:                in.Type,
		Source:              in.DeprecatedSource,
		FirstTimestamp:      in.DeprecatedFirstTimestamp,
		LastTimestamp:       in.DeprecatedLastTimestamp,
		Count:               in.DeprecatedCount,
	}
}

func seriesFromCore(in *corev1.EventSeries) *eventsv1.EventSeries {
	if in == nil {
		return nil
	}
	return &eventsv1.EventSeries{Count: in.Count, LastObservedTime: in.LastObservedTime}
}

func seriesToCore(in *eventsv1.EventSeries) *corev1.EventSeries {
	if in == nil {
		return nil
	}
	return &corev1.EventSeries{Count: in.Count, LastObservedTime: in.LastObservedTime}
}

// eventFields maps the field labels of events.k8s.io/v1 to those of core/v1.
var eventFields = map[string]string{
	"metadata.name":             "metadata.name",
	"metadata.namespace":        "metadata.namespace",
	"reason":                    "reason",
	"type":                      "type",
	"reportingController":       "reportingComponent",
	"regarding.kind":            "involvedObject.kind",
	"regarding.namespace":       "involvedObject.namespace",
	"regarding.name":            "involvedObject.name",
	"regarding.uid":             "involvedObject.uid",
	"regarding.apiVersion":      "involvedObject.apiVersion",
	"regarding.resourceVersion": "involvedObject.resourceVersion",
	"regarding.fieldPath":       "involvedObject.fieldPath",
}

func eventFieldLabel(label, value string) (string, string, error) {
	stored, ok := eventFields[label]
	if !ok {
		return "", "", fmt.Errorf("field label not supported for events.k8s.io: %s", label)
	}
	return stored, value, nil
}
