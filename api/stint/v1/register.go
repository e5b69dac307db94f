package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of Stint's own kinds, and the prefix of its labels and annotations.
const GroupName = "stint.dev"

// SchemeGroupVersion is the group and version of this package.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1"}

// AddToScheme adds the types of this package to s.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(SchemeGroupVersion, &ScheduledJob{}, &ScheduledJobList{}, &ScheduledJobRun{}, &ResultSlice{}, &ResultSliceList{}, &JobResults{},
		&JobExplanation{})
	metav1.AddToGroupVersion(s, SchemeGroupVersion)
	return nil
}
