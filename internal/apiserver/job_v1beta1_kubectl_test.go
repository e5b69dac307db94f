package apiserver_test

import (
	"strings"
	"testing"
)

const oldManifest = `apiVersion: extensions/v1beta1
kind: Job
metadata:
  name: old
spec:
  suspend: true
  template:
    metadata:
      labels: {app: old}
    spec:
      containers: [{name: c, image: busybox, command: ["true"]}]
      restartPolicy: Never
`

var (
	autoManifest = strings.NewReplacer("name: old", "name: auto", "suspend: true", "autoSelector: true").Replace(oldManifest)
	newManifest  = strings.NewReplacer("extensions/v1beta1", "batch/v1", "autoSelector: true", "suspend: true").Replace(autoManifest)
)

var oldVersionSteps = []kubectlStep{
	{does: "both versions are listed", args: "api-resources -o wide", want: "extensions/v1beta1"},
	{does: "the old version is explained", args: "explain job.spec.autoSelector --api-version=extensions/v1beta1", want: "VERSION:    v1beta1"},
	{does: "without the new one's field", args: "explain job.spec.manualSelector --api-version=extensions/v1beta1", want: "does not exist", fails: true},
	{does: "the new one is what one means", args: "explain job.spec.manualSelector", want: "VERSION:    v1\n"},
	{does: "old manifests are applied", args: "apply -f old.yaml -f auto.yaml", want: "job.extensions/auto created"},
	{does: "applied again they change nothing", args: "apply -f old.yaml", want: "job.extensions/old unchanged"},
	{does: "and differ in nothing", args: "diff -f old.yaml -f auto.yaml", want: ""},
	{does: "jobs are those of batch", args: "get jobs -o name", want: "job.batch/auto\njob.batch/old\n"},
	{does: "the old version has them too", args: "get jobs.v1beta1.extensions -o name", want: "job.extensions/auto\njob.extensions/old\n"},
	{does: "all has each of them once", args: "get all -o name", want: "job.batch/auto\njob.batch/old\n", lacks: "extensions"},
	{does: "a table", args: "get jobs.v1beta1.extensions -o wide", want: "app=old"},
	{does: "a field selector", args: "get jobs.v1beta1.extensions --field-selector status.successful=0 -o name", want: "job.extensions/old"},
	{does: "a selector that was made of the labels is the author's", args: "get job old -o yaml --show-managed-fields", want: "manualSelector: true", lacks: "autoSelector"},
	{does: "which the old version need not say", args: "get jobs.v1beta1.extensions old -o yaml --show-managed-fields", want: "app: old", lacks: "Selector"},
	{does: "a selector that was asked for is what the new version need not say", args: "get job auto -o jsonpath={.spec.manualSelector}{.spec.selector}", want: "controller-uid", lacks: "true"},
	{does: "it is edited", args: "edit jobs.v1beta1.extensions old", want: "job.extensions/old edited"},
	{does: "as told", args: "get job old -o jsonpath={.spec.parallelism}", want: "7"},
	{does: "a JSON patch", args: `patch jobs.v1beta1.extensions old --type=json -p [{"op":"replace","path":"/spec/parallelism","value":2}]`, want: "patched"},
	{does: "a merge patch", args: `patch jobs.v1beta1.extensions old --type=merge -p {"spec":{"parallelism":3}}`, want: "patched"},
	{does: "a strategic merge patch", args: `patch jobs.v1beta1.extensions old --type=strategic -p {"spec":{"parallelism":4}}`, want: "patched"},
	{does: "the other version's field is unknown", args: `patch jobs.v1beta1.extensions old --type=merge -p {"spec":{"manualSelector":true}}`, want: `unknown field "spec.manualSelector"`},
	{does: "and the other way round", args: `patch job old --type=merge -p {"spec":{"autoSelector":true}}`, want: `unknown field "spec.autoSelector"`},
	{does: "it is replaced", args: "replace -f old.yaml", want: "job.extensions/old replaced"},
	{does: "by what the manifest says", args: "get job old -o jsonpath={.spec.parallelism}", want: "1"},
	{does: "it is waited for", args: "wait --for=jsonpath={.spec.suspend}=true jobs.v1beta1.extensions/old --timeout=5m", want: "condition met"},
	{does: "it is described", args: "describe jobs.v1beta1.extensions auto", want: "Auto Selector:"},
	{does: "a server-side apply", args: "apply --server-side --field-manager=one -f auto.yaml", want: "serverside-applied"},
	{does: "one through the new version", args: "apply --server-side --field-manager=two -f new.yaml", want: "serverside-applied"},
	{does: "a conflict with the new version's manager", args: "apply --server-side --field-manager=one -f conflict.yaml", want: `conflict with "two"`, fails: true},
	{does: "by force", args: "apply --server-side --force-conflicts --field-manager=one -f conflict.yaml", want: "serverside-applied"},
	{does: "managers are told in the client's version", args: "get jobs.v1beta1.extensions auto -o yaml --show-managed-fields", want: "f:autoSelector", lacks: "batch/v1"},
	{does: "whichever that is", args: "get job auto -o yaml --show-managed-fields", want: "f:manualSelector", lacks: "extensions/v1beta1"},
	{does: "the new manifest is applied to what the old one made", args: "apply -f new.yaml", want: "job.batch/auto configured"},
	{does: "it is deleted through the old version", args: "delete jobs.v1beta1.extensions old --timeout=5m", want: "deleted"},
	{does: "and is gone", args: "get job old", want: "NotFound", fails: true},
	{does: "the other through the new one", args: "delete job auto --timeout=5m", want: "deleted"},
	{does: "and is gone too", args: "get jobs.v1beta1.extensions auto", want: "jobs.extensions", fails: true},
}

func TestKubectlWorksThroughTheOldVersion(t *testing.T) {
	t.Setenv("KUBE_EDITOR", "sed -i /parallelism:/s/1/7/")
	runKubectl(t, start(t), oldVersionSteps, map[string]string{
		"old.yaml":      oldManifest,
		"auto.yaml":     autoManifest,
		"new.yaml":      newManifest,
		"conflict.yaml": strings.Replace(autoManifest, "autoSelector: true", "autoSelector: true\n  suspend: false", 1),
	})
}
