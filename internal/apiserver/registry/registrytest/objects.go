package registrytest

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	noderuntime "github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/wrappers"
)

// JobUID is the UID of the Jobs that Job returns.
const JobUID = "5c7d8a54-33cf-4a3b-8c6f-0a1d7f7f0c01"

// Job returns a Job as a user writes it.
func Job(edits ...func(*batchv1.Job)) *batchv1.Job {
	return wrappers.MakeJob("pi").Namespace("default").UID(JobUID).Containers("main").Image("perl:5.34.0").Command("perl").With(edits...).Obj()
}

// Pod returns a pod as a user writes it.
func Pod(edits ...func(*corev1.Pod)) *corev1.Pod {
	return wrappers.MakePod("pi").Namespace("default").Containers("main").Image("perl:5.34.0").Command("perl").With(edits...).Obj()
}

// RuntimeClass returns a RuntimeClass as a user writes it.
func RuntimeClass(name, handler string, edits ...func(*nodev1.RuntimeClass)) *nodev1.RuntimeClass {
	class := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Handler: handler}
	for _, edit := range edits {
		edit(class)
	}
	return class
}

// Able is a process runtime with all abilities that it can have.
var Able = noderuntime.Info{
	Name: "process", EnforcesCPU: true, EnforcesMemory: true, CanMount: true, CanMountReadOnly: true, CanSetHostname: true, CanSetUser: true,
	CanMeasure: true, CanExec: true,
}

// Annotations returns annotations of Stint. pairs are names without prefix, each followed by a value.
func Annotations(pairs ...string) map[string]string {
	annotations := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		annotations["stint.dev/"+pairs[i]] = pairs[i+1]
	}
	return annotations
}
