package differential_test

import (
	"encoding/json"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/scheduledjob"
)

// What stint server accepts as a ScheduledJob can run there, and a cluster accepts it too: with every pod of the corpus as
// its template.
func TestClusterRunsWhatIsAcceptedAsAScheduledJob(t *testing.T) {
	bases, _ := scheduledJobSections(t)
	cluster, server := kubernetes(t), stint(t)
	cluster.define(t, definitionFile)
	tried := 0
	for _, s := range podSections(t) {
		if s.Base != "job" {
			continue
		}
		for _, name := range s.names() {
			template := s.Cases[name].(map[string]any)["spec"]
			object, err := changed(bases["scheduledjob"], map[string]any{"spec": template})
			must(t, err)
			accepted, reply := dryCreate(t, server, "ScheduledJob", encode(object))
			if !accepted {
				continue
			}
			tried++
			t.Run(s.label(name), func(t *testing.T) { checkRunnable(t, cluster, server, encode(object), reply) })
		}
	}
	if tried < 100 {
		t.Errorf("only %d templates were accepted", tried)
	}
}

func checkRunnable(t *testing.T, cluster, server *endpoint, manifest, stored []byte) {
	if accepted, reply := dryCreate(t, cluster, "ScheduledJob", manifest); !accepted {
		t.Errorf("a cluster refuses it: %.600s", reply)
	}
	var sj stintv1.ScheduledJob
	must(t, json.Unmarshal(stored, &sj))
	job, err := scheduledjob.BuildJob(&sj, sj.Spec.Template, stintv1.Execution{Tag: "20260301-120000"})
	must(t, err)
	job.APIVersion, job.Kind = "batch/v1", "Job"
	if accepted, reply := dryCreate(t, server, "Job", encode(job)); !accepted {
		t.Errorf("the Job of a run is refused: %.600s", reply)
	}
	if job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("a run restarts %s", job.Spec.Template.Spec.RestartPolicy)
	}
}

func dryCreate(t *testing.T, server *endpoint, kind string, body []byte) (accepted bool, answer []byte) {
	t.Helper()
	r, err := server.do(call{method: http.MethodPost, path: collection(kind, "default"), contentType: "application/yaml",
		query: map[string]string{"dryRun": "All"}, body: body})
	must(t, err)
	return r.code/100 == 2, r.body
}
