package run

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/manifest"
	jobcore "github.com/stint-dev/stint/internal/job"
)

func TestAnnotationsThatAClusterWouldAccept(t *testing.T) {
	job := func(manager *string, value string) *batchv1.Job {
		j := &batchv1.Job{Spec: batchv1.JobSpec{ManagedBy: manager}}
		j.Annotations = map[string]string{jobcore.BackoffSeconds: value}
		return j
	}
	ours := ptr.To(jobcore.ManagedBy)
	for sentence, c := range map[string]struct {
		job  *batchv1.Job
		want string
	}{
		"a good value":                {job(ours, "10"), ""},
		"a bad value":                 {job(ours, "soon"), `job.yaml: document 2: metadata.annotations[stint.dev/backoff-seconds]: Invalid value: "soon": must be a whole number from 0 to 2147483647`},
		"of a Job of Kubernetes'":     {job(nil, "soon"), ""},
		"of a Job of somebody else's": {job(ptr.To("example.com/queue"), "soon"), ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := &manifest.Object{Place: manifest.Place{File: "job.yaml", Document: 2}, Typed: c.job}
			got := ""
			if err := refuseAnnotations(o, c.job); err != nil {
				got = fmt.Sprint(err)
			}
			if got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}
