package apiserver_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const piManifest = `apiVersion: batch/v1
kind: Job
metadata:
  name: pi
spec:
  template:
    spec:
      containers:
      - name: pi
        image: perl:5.34.0
        command: ["perl", "-Mbignum=bpi", "-wle", "print bpi(2000)"]
      restartPolicy: Never
  backoffLimit: 4
`

// kubectlStep is one call of an unmodified kubectl. The steps of a test build on each other.
type kubectlStep struct {
	does string
	args string
	want string
	// lacks is text that the output must not contain, unless it is empty.
	lacks string
	// fails is true if kubectl must end with an error.
	fails bool
}

var kubectlSteps = []kubectlStep{
	{does: "the versions are shown", args: "version", want: "Server Version: v1.37"},
	{does: "kinds are listed", args: "api-resources", want: "batch/v1"},
	{does: "a dry run is validated by the server", args: "apply --dry-run=server -f pi.yaml", want: "created (server dry run)"},
	{does: "a manifest is applied", args: "apply -f pi.yaml", want: "job.batch/pi created"},
	{does: "applied again it changes nothing", args: "apply -f pi.yaml", want: "unchanged"},
	{does: "there is no difference", args: "diff -f pi.yaml", want: ""},
	{does: "the server applies it too", args: "apply --server-side --force-conflicts -f pi.yaml", want: "serverside-applied"},
	{does: "a wide table is printed", args: "get jobs -o wide", want: "perl:5.34.0"},
	{does: "a field is picked", args: "get job pi -o jsonpath={.spec.backoffLimit}", want: "4"},
	{does: "it is described", args: "describe job pi", want: "Backoff Limit:    4"},
	{does: "it is explained", args: "explain job.spec.backoffLimit", want: "FIELD: backoffLimit <integer>"},
	{does: "it is patched", args: "patch job pi -p {\"spec\":{\"suspend\":true}}", want: "patched"},
	{does: "it is labelled", args: "label job pi colour=blue", want: "labeled"},
	{does: "it is found by the label", args: "get jobs -l colour=blue -o name", want: "job.batch/pi"},
	{does: "it is waited for", args: "wait --for=jsonpath={.spec.suspend}=true job/pi --timeout=5m", want: "condition met"},
	{does: "an unknown field is refused", args: "create -f typo.yaml", want: "spec.bakoffLimit", fails: true},
	{does: "an unknown kind is refused", args: "get deployments", want: "deployments", fails: true},
	{does: "a Service is refused with the reason", args: "create service clusterip web --tcp=80", want: "a process listens on the ports of the machine itself", fails: true},
	{does: "the cluster is told of", args: "cluster-info", want: "Kubernetes control plane"},
	{does: "there is a default ServiceAccount", args: "get sa -n kube-system -o name", want: "serviceaccount/default"},
	{does: "which comes back", args: "delete sa default", want: "deleted"},
	{does: "at once", args: "get sa -o name", want: "serviceaccount/default"},
	{does: "a pod is made", args: "run box --image=busybox --restart=Never --command -- sleep 1", want: "pod/box created"},
	{does: "pods are selected by a field", args: "get pods --field-selector status.phase=Pending -o name", want: "pod/box"},
	{does: "exec is refused where no node is", args: "exec box -- ls", want: "this server has no node that runs pods", fails: true},
	{does: "events are listed", args: "events", want: ""},
	{does: "a namespace is made", args: "create namespace other", want: "created"},
	{does: "it has its ServiceAccount", args: "get sa -n other -o name", want: "serviceaccount/default"},
	{does: "and filled", args: "create configmap m -n other --from-literal=a=b", want: "created"},
	{does: "the user is known", args: "auth whoami", want: "stint-admin"},
	{does: "the user may", args: "auth can-i delete jobs", want: "yes"},
	{does: "what was applied is deleted", args: "delete -f pi.yaml --timeout=5m", want: "deleted"},
	{does: "and is gone", args: "get job pi", want: "NotFound", fails: true},
	{does: "a pod without a node goes at once", args: "delete pod box --timeout=5m", want: "deleted"},
}

func TestKubectlWorks(t *testing.T) {
	runKubectl(t, start(t), kubectlSteps, map[string]string{
		"pi.yaml":   piManifest,
		"typo.yaml": strings.Replace(piManifest, "backoffLimit", "bakoffLimit", 1),
	})
}

// runKubectl runs the steps in a directory with the files.
func runKubectl(t *testing.T, r *running, steps []kubectlStep, files map[string]string) {
	t.Helper()
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not in PATH")
	}
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range steps {
		cmd := exec.CommandContext(t.Context(), kubectl, strings.Fields(step.args)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "KUBECONFIG="+r.KubeconfigPath(), "HOME="+dir)
		out, err := cmd.CombinedOutput()
		if (err != nil) != step.fails || !strings.Contains(string(out), step.want) {
			t.Errorf("%s: kubectl %s: %v, want %q in:\n%s", step.does, step.args, err, step.want, out)
		}
		if step.lacks != "" && strings.Contains(string(out), step.lacks) {
			t.Errorf("%s: kubectl %s: %q in:\n%s", step.does, step.args, step.lacks, out)
		}
	}
}
