package scheduledjob_test

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/scheduledjob"
)

// Three due times have come. Runs may not overlap, so one starts and the others wait for it.
func ExampleDecide() {
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox"}}}}
	sj := &stintv1.ScheduledJob{
		ObjectMeta: metav1.ObjectMeta{Name: "report", Namespace: "default", UID: "uid", CreationTimestamp: metav1.NewTime(noon)},
		Spec: stintv1.ScheduledJobSpec{
			Schedule:           &stintv1.Schedule{TimeSpec: "R3//PT1M", SkipOutdated: ptr.To(false)},
			AllowConcurrentRun: ptr.To(false),
			Template:           &template,
		},
	}

	d := scheduledjob.Decide(scheduledjob.Observation{ScheduledJob: sj, Template: &template, Now: noon.Add(150 * time.Second)})

	fmt.Println("start", d.Create[0].Name)
	status := d.Status([]scheduledjob.Outcome{{Job: created(d.Create[0])}})
	for _, run := range status.RunningExecutions {
		fmt.Println("running", run.Tag)
	}
	for _, run := range status.PendingExecutions {
		fmt.Println("pending", run.Tag)
	}
	// Output:
	// start report-20260105-120000
	// running 20260105-120000
	// pending 20260105-120100
	// pending 20260105-120200
}

// created is the Job as the API server returns it.
func created(j *batchv1.Job) *batchv1.Job {
	j.UID = "job-uid"
	return j
}
