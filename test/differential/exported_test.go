package differential_test

import (
	"encoding/json"
	"net/http"
	"testing"
)

// TestClusterExportsJobsThatStintTakes creates on Stint a Job exactly as kube-apiserver returns it: as batch/v1, and as
// the old extensions/v1beta1 with autoSelector.
func TestClusterExportsJobsThatStintTakes(t *testing.T) {
	cluster, ours := kubernetes(t), stint(t)
	const jobs = "/apis/batch/v1/namespaces/default/jobs"
	post := func(e *endpoint, path string, job object) object {
		t.Helper()
		body, err := json.Marshal(job)
		must(t, err)
		made, err := e.want(call{method: http.MethodPost, path: path, contentType: "application/json", body: body,
			query: map[string]string{"fieldValidation": "Strict"}})
		must(t, err)
		return made
	}
	template := object{"spec": object{"restartPolicy": "Never", "containers": []any{object{"name": "c", "image": "busybox"}}}}
	exported := post(cluster, jobs, object{"metadata": object{"name": "pi"}, "spec": object{"template": template}})

	uid := exported["metadata"].(object)["uid"]
	generated := func(job object) bool {
		selector := job["spec"].(object)["selector"].(object)["matchLabels"].(object)
		own := job["metadata"].(object)["uid"]
		return own != uid && len(selector) == 1 && selector["batch.kubernetes.io/controller-uid"] == own
	}
	if job := post(ours, jobs, exported); !generated(job) {
		t.Errorf("batch/v1: %v", job)
	}
	exported["apiVersion"] = "extensions/v1beta1"
	exported["metadata"].(object)["name"] = "old"
	delete(exported["spec"].(object), "manualSelector")
	exported["spec"].(object)["autoSelector"] = true
	if job := post(ours, "/apis/extensions/v1beta1/namespaces/default/jobs", exported); !generated(job) {
		t.Errorf("extensions/v1beta1: %v", job)
	}
}
