package differential_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/kube"
)

const definedManifest = `apiVersion: stint.dev/v1
kind: ScheduledJob
metadata: {name: report}
spec:
  schedule: {timeSpec: R5//PT1H, timeZone: Europe/Berlin}
  template:
    spec:
      containers: [{name: main, image: busybox}]
`

// definedRun asks for a run, as docs/schedules.md describes.
const definedRun = `
apiVersion: stint.dev/v1
kind: ScheduledJob
metadata: {name: report}
status:
  pendingExecutions:
  - tag: march
    overrides: {env: [{name: DRY_RUN, value: "1"}]}
`

// kubectlStep is what kubectl does with a cluster.
type kubectlStep struct {
	args, want string
	// awaited is set for what a cluster serves only a while after the kind is defined: discovery, and kubectl explain.
	awaited bool
}

// definedSteps are what kubectl does with ScheduledJobs on a cluster. The steps build on each other.
var definedSteps = []kubectlStep{
	{args: "apply -f " + definitionFile, want: "created"},
	{args: "apply -f " + definitionFile, want: "unchanged"},
	{args: "wait --for=condition=Established crd/scheduledjobs.stint.dev --timeout=5m", want: "condition met"},
	{args: "apply -f MANIFEST", want: "scheduledjob.stint.dev/report created", awaited: true},
	{args: "apply -f MANIFEST", want: "unchanged"},
	{args: "apply --server-side --force-conflicts -f MANIFEST", want: "serverside-applied"},
	{args: "diff -f MANIFEST", want: ""},
	{args: "explain scheduledjob.spec.schedule.timeSpec", want: "R[n]/<start>/<duration>", awaited: true},
	{args: "explain sj.status.pendingExecutions", want: "PendingExecutions are runs that wait to", awaited: true},
	{args: "get sj -o wide", want: "LAST SCHEDULE   LAST SUCCESS   BLOCKED   NEXT   AGE   CONTAINERS   IMAGES"},
	{args: "patch sj report --subresource=status --type=merge -p {\"status\":{\"pendingExecutions\":[{\"tag\":\"now\"}]}}", want: "patched"},
	{args: "get sj report -o jsonpath={.status.pendingExecutions[0].tag},{.spec.completedExecutionsHistoryLimit}", want: "now,20"},
	{args: "apply --server-side --force-conflicts --subresource=status --field-manager=march -f RUN", want: "serverside-applied"},
	{args: "get sj report -o jsonpath={.status.pendingExecutions[*].tag}", want: "now march"},
	{args: "get all", want: "scheduledjob.stint.dev/report"},
	{args: "delete -f MANIFEST --timeout=5m", want: "deleted"},
}

func TestClusterDefinitionWorksWithKubectl(t *testing.T) {
	program, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not in PATH: install it to run this test")
	}
	config, err := kube.ForTest(t, kube.Options{}).Kubeconfig("")
	must(t, err)
	home := t.TempDir()
	manifest := filepath.Join(home, "report.yaml")
	must(t, os.WriteFile(manifest, []byte(definedManifest), 0o600))
	run := filepath.Join(home, "run.yaml")
	must(t, os.WriteFile(run, []byte(definedRun), 0o600))
	files := strings.NewReplacer("MANIFEST", manifest, "RUN", run)
	kubectl := func(args string) (string, error) {
		cmd := exec.CommandContext(t.Context(), program, strings.Fields(files.Replace(args))...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+config, "HOME="+home)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, step := range definedSteps {
		var out string
		var err error
		said := func() bool {
			out, err = kubectl(step.args)
			return err == nil && strings.Contains(out, step.want)
		}
		state := func() string { return fmt.Sprintf("%v: %s", err, out) }
		if what := fmt.Sprintf("kubectl %s to say %q", step.args, step.want); step.awaited {
			await.Until(t, what, said, state)
		} else if !said() {
			t.Errorf("want %s; %s", what, state())
		}
	}
}
