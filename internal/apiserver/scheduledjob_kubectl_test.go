package apiserver_test

import (
	"strings"
	"testing"
)

const reportManifest = `apiVersion: stint.dev/v1
kind: ScheduledJob
metadata:
  name: report
  labels: {team: a}
spec:
  schedule:
    timeSpec: R5/T01:00:00/PT1H
    timeZone: Europe/Berlin
  allowConcurrentRun: false
  template:
    spec:
      containers:
      - name: main
        image: perl:5.34.0
        command: ["perl", "-e", "print 1"]
        ports: [{containerPort: 80}]
`

var kubectlScheduledJobSteps = []kubectlStep{
	{does: "the kind is listed", args: "api-resources --api-group=stint.dev", want: "scheduledjobs   sj"},
	{does: "it is explained", args: "explain scheduledjob.spec.schedule", want: "BlockOnFailure stops the schedule after a failed run"},
	{does: "to its leaves", args: "explain sj.spec.schedule.timeSpec", want: "R[n]/<start>/<duration>"},
	{does: "and with Kubernetes' own types", args: "explain sj.spec.template.spec.containers.image", want: "Container image name"},
	{does: "so is the run", args: "explain scheduledjobs.status.completedExecutions.exitCodes", want: "Pods is how many pods ended with it"},
	{does: "a dry run is validated by the server", args: "apply --dry-run=server -f report.yaml", want: "created (server dry run)"},
	{does: "a mistake is told with its field", args: "create -f mistake.yaml", want: "spec.schedule.timeSpec", fails: true},
	{does: "an unknown field is refused", args: "create -f typo.yaml", want: "spec.podCuont", fails: true},
	{does: "a manifest is applied", args: "apply -f report.yaml", want: "scheduledjob.stint.dev/report created"},
	{does: "applied again it changes nothing", args: "apply -f report.yaml", want: "unchanged"},
	{does: "there is no difference", args: "diff -f report.yaml", want: ""},
	{does: "a change is applied", args: "apply -f changed.yaml", want: "configured"},
	{does: "and is there", args: "get sj report -o jsonpath={.spec.podCount},{.spec.template.spec.containers[*].image}", want: "3,perl:5.36.0"},
	{does: "the server applies it too", args: "apply --server-side --force-conflicts -f report.yaml", want: "serverside-applied"},
	{does: "a table is printed", args: "get scheduledjobs", want: "NAME     SCHEDULE            SUSPEND   PENDING   RUNNING   LAST SCHEDULE   LAST RESULT   NEXT     AGE"},
	{does: "and a wide one", args: "get sj -o wide", want: "perl:5.34.0"},
	{does: "all has it", args: "get all", want: "scheduledjob.stint.dev/report"},
	{does: "defaults are shown", args: "get sj report -o yaml", want: "completedExecutionsHistoryLimit: 20"},
	{does: "it is described", args: "describe sj report", want: "R5/T01:00:00/PT1H"},
	{does: "a merge patch is taken", args: "patch sj report --type=merge -p {\"spec\":{\"suspend\":true}}", want: "patched"},
	{does: "a JSON patch is taken", args: "patch sj report --type=json -p [{\"op\":\"replace\",\"path\":\"/spec/maxRestart\",\"value\":4}]", want: "patched"},
	{does: "a strategic patch knows containers by name", args: "patch sj report --type=strategic -p {\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"side\",\"image\":\"i\"}]}}}}", want: "patched"},
	{does: "all patches hold", args: "get sj report -o jsonpath={.spec.suspend},{.spec.maxRestart},{.spec.template.spec.containers[*].name}", want: "true,4,side main"},
	{does: "it is replaced", args: "replace -f report.yaml", want: "replaced"},
	{does: "it is found by a label", args: "get sj -l team=a -o name", want: "scheduledjob.stint.dev/report"},
	{does: "a run is asked for", args: "create --raw /apis/stint.dev/v1/namespaces/default/scheduledjobs/report/run -f run.json", want: `"tag":"first"`},
	{does: "and waits", args: "get sj report -o jsonpath={.status.pendingExecutions[*].tag},{.status.pendingExecutions[*].trigger}", want: "first,Manual"},
	{does: "asked for twice it is the same", args: "create --raw /apis/stint.dev/v1/namespaces/default/scheduledjobs/report/run -f run.json", want: `"tag":"first"`},
	{does: "with other overrides it is refused", args: "create --raw /apis/stint.dev/v1/namespaces/default/scheduledjobs/report/run -f other.json", want: "with other overrides: choose another tag", fails: true},
	{does: "no body asks for nothing special", args: "create --raw /apis/stint.dev/v1/namespaces/default/scheduledjobs/report/run -f empty.json", want: `"tag":"manual-`},
	{does: "a condition is set", args: "patch sj report --subresource=status --type=merge -p {\"status\":{\"conditions\":[{\"type\":\"Blocked\",\"status\":\"True\",\"reason\":\"RunFailed\",\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}", want: "patched"},
	{does: "and waited for", args: "wait --for=condition=Blocked sj/report --timeout=5m", want: "condition met"},
	{does: "a field is waited for", args: "wait --for=jsonpath={.status.pendingExecutions[0].tag}=first sj/report --timeout=5m", want: "condition met"},
	{does: "it is not scaled", args: "scale --replicas=2 sj/report", want: "could not find", fails: true},
	{does: "it is deleted", args: "delete sj report --cascade=background --timeout=5m", want: "deleted"},
	{does: "and is gone", args: "get sj report", want: "NotFound", fails: true},
}

func TestKubectlWorksWithScheduledJobs(t *testing.T) {
	runKubectl(t, start(t), kubectlScheduledJobSteps, map[string]string{
		"report.yaml":  reportManifest,
		"changed.yaml": strings.NewReplacer("allowConcurrentRun: false", "podCount: 3", "5.34.0", "5.36.0").Replace(reportManifest),
		"mistake.yaml": strings.Replace(reportManifest, "PT1H", "PT1", 1),
		"typo.yaml":    strings.Replace(reportManifest, "allowConcurrentRun: false", "podCuont: 3", 1),
		"run.json":     `{"tag":"first","overrides":{"env":[{"name":"A","value":"1"}]}}`,
		"other.json":   `{"tag":"first","overrides":{"env":[{"name":"A","value":"2"}]}}`,
		"empty.json":   `{}`,
	})
}
