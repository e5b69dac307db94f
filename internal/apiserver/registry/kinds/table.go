package kinds

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// The columns that nearly every table has.
var (
	NameColumn = metav1.TableColumnDefinition{
		Name: "Name", Type: "string", Format: "name", Description: metav1.ObjectMeta{}.SwaggerDoc()["name"],
	}
	AgeColumn = metav1.TableColumnDefinition{
		Name: "Age", Type: "string", Description: metav1.ObjectMeta{}.SwaggerDoc()["creationTimestamp"],
	}
)

// Age returns the time since t in the form that kubectl prints.
func Age(t metav1.Time, now time.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(t.Time))
}

// OrNone returns s or, if it is empty, <none>, as kubectl prints it.
func OrNone(s string) string {
	if s == "" {
		return "<none>"
	}
	return s
}

// SuspendCell returns text, although the type of the column is boolean, because kube-apiserver does so.
func SuspendCell(suspend *bool) string {
	switch {
	case suspend == nil:
		return "<unset>"
	case *suspend:
		return "True"
	}
	return "False"
}

// TemplateColumns returns the columns that `-o wide` adds for kinds with a pod template.
func TemplateColumns(selector string) []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		{Name: "Containers", Type: "string", Priority: 1, Description: "Names of each container in the template."},
		{Name: "Images", Type: "string", Priority: 1, Description: "Images referenced by each container in the template."},
		{Name: "Selector", Type: "string", Priority: 1, Description: selector},
	}
}
