package cronjob_test

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cronjob"
)

// The name of a run follows from its due time, so that deciding the same twice creates one Job.
func ExampleDecide() {
	cj := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{
			Name: "report", Namespace: "default", UID: "uid",
			CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 5, 11, 59, 30, 0, time.UTC)),
		},
		Spec: batchv1.CronJobSpec{
			Schedule:          "*/5 * * * *",
			ConcurrencyPolicy: batchv1.ForbidConcurrent,
		},
	}
	now := time.Date(2026, 1, 5, 12, 0, 1, 0, time.UTC)

	d := cronjob.Decide(cronjob.Observation{CronJob: cj, Now: now})
	fmt.Println("start", d.Start.Name, "which was due at", d.Due.UTC().Format(time.TimeOnly))
	fmt.Println("requeue at", d.RequeueAt.UTC().Format(time.TimeOnly))

	// Five minutes later the first run still runs, and the policy is Forbid.
	cj.Status = d.Status(d.Start)
	now = now.Add(5 * time.Minute)
	d = cronjob.Decide(cronjob.Observation{CronJob: cj, Jobs: []*batchv1.Job{running(d.Start)}, Now: now})
	fmt.Println("start another:", d.Start != nil)
	// Output:
	// start report-29460240 which was due at 12:00:00
	// requeue at 12:05:00
	// start another: false
}

// running is the Job as the API server returns it when it is created.
func running(j *batchv1.Job) *batchv1.Job {
	j.UID = "job-uid"
	j.Spec.Suspend = ptr.To(false)
	return j
}
