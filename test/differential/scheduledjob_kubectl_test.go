package differential_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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

// definedRun asks for a run, as docs/schedules.md tells to.
const definedRun = `
apiVersion: stint.dev/v1
kind: ScheduledJob
metadata: {name: report}
status:
  pendingExecutions:
  - tag: march
    overrides: {env: [{name: DRY_RUN, value: "1"}]}
`

// What kubectl does with ScheduledJobs on a cluster. The steps build on each other.
var definedSteps = []struct{ args, want string }{
	{"apply -f " + definitionFile, "created"},
	{"apply -f " + definitionFile, "unchanged"},
	{"wait --for=condition=Established crd/scheduledjobs.stint.dev --timeout=30s", "condition met"},
	{"apply -f MANIFEST", "scheduledjob.stint.dev/report created"},
	{"apply -f MANIFEST", "unchanged"},
	{"apply --server-side --force-conflicts -f MANIFEST", "serverside-applied"},
	{"diff -f MANIFEST", ""},
	{"explain scheduledjob.spec.schedule.timeSpec", "R[n]/<start>/<duration>"},
	{"explain sj.status.pendingExecutions", "PendingExecutions wait to start"},
	{"get sj -o wide", "LAST SCHEDULE   LAST SUCCESS   BLOCKED   NEXT   AGE   CONTAINERS   IMAGES"},
	{"patch sj report --subresource=status --type=merge -p {\"status\":{\"pendingExecutions\":[{\"tag\":\"now\"}]}}", "patched"},
	{"get sj report -o jsonpath={.status.pendingExecutions[0].tag},{.spec.completedExecutionsHistoryLimit}", "now,20"},
	{"apply --server-side --force-conflicts --subresource=status --field-manager=march -f RUN", "serverside-applied"},
	{"get sj report -o jsonpath={.status.pendingExecutions[*].tag}", "now march"},
	{"get all", "scheduledjob.stint.dev/report"},
	{"delete -f MANIFEST --timeout=20s", "deleted"},
}

func TestKubectlWorksWithTheDefinition(t *testing.T) {
	kubectl, err := exec.LookPath("kubectl")
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
	for _, step := range definedSteps {
		cmd := exec.CommandContext(t.Context(), kubectl, strings.Fields(files.Replace(step.args))...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+config, "HOME="+home)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), step.want) {
			t.Errorf("kubectl %s: %v, want %q in:\n%s", step.args, err, step.want, out)
		}
	}
}
