package differential_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// podCase is a pod in a file of testdata/pods. Every one is sent as a pod and as the template of a Job.
type podCase struct {
	Name string `json:"name"`
	// Spec and Metadata are merged into those of the pod.
	Spec     map[string]any `json:"spec"`
	Metadata map[string]any `json:"metadata"`
	// Container is merged into the first container.
	Container map[string]any `json:"container"`
	// Init, where given, makes an init container.
	Init map[string]any `json:"init"`
	// Volume, where given, makes a volume named v.
	Volume map[string]any `json:"volume"`
	// Only names the kind that the case is for, where it is not for both.
	Only string `json:"only"`
}

// podSections makes two sections of each file.
func podSections(t testing.TB) []section {
	t.Helper()
	files, err := fs.Glob(corpus, "testdata/pods/*.yaml")
	must(t, err)
	var all []section
	for _, file := range files {
		text, err := corpus.ReadFile(file)
		must(t, err)
		var cases []podCase
		must(t, yaml.UnmarshalStrict(text, &cases))
		topic := strings.TrimSuffix(path.Base(file), ".yaml")
		templates := section{Section: "templates: " + topic, Request: create, Base: "job", Cases: map[string]any{}}
		pods := section{Section: "pods: " + topic, Request: create, Base: "pod", Cases: map[string]any{}}
		for _, c := range cases {
			pod := map[string]any{"metadata": c.Metadata, "spec": c.spec()}
			if c.Only != "Pod" {
				templates.Cases[c.Name] = map[string]any{"spec": map[string]any{"template": pod}}
			}
			if c.Only != "Job" {
				pods.Cases[c.Name] = pod
			}
		}
		all = append(all, templates, pods)
	}
	return all
}

func (c podCase) spec() any {
	container := map[string]any{"name": "main", "image": "perl:5.34.0", "command": []any{"perl"}}
	spec := map[string]any{"containers": []any{merged(container, c.Container)}}
	if c.Init != nil {
		container["name"] = "first"
		spec["initContainers"] = []any{merged(container, c.Init)}
	}
	if c.Volume != nil {
		spec["volumes"] = []any{merged(map[string]any{"name": "v"}, c.Volume)}
	}
	return merged(spec, c.Spec)
}

// anyPod begins the path of a field of a pod and of a template's.
const anyPod = `spec\.(template\.spec\.)?`

// anyContainer begins the path of a field of a container.
const anyContainer = anyPod + `(init)?[cC]ontainers\[\d+\]\.`

// veryField is the reason for most differences.
const veryField = "the path names the field that is wrong; Kubernetes' path names another one, or none: "

// podDifferences are those of pods and templates.
var podDifferences = []difference{
	{gaps: `field ` + anyContainer + `volumeMounts(\[\d+\])?\.(subPath|subPathExpr|mountPropagation|recursiveReadOnly)`,
		reason: veryField + "it leaves out which mount"},
	{gaps: `field ` + anyContainer + `\w+Probe\.httpGet\.httpHeaders(\[\d+\]\.name)?`,
		reason: veryField + "it leaves out which header"},
	{gaps: `field ` + anyPod + `volumes\[\d+\]\.(projected\.sources\[\d+\]\.)?downwardAPI(\.items\[\d+\])?(\.(path|mode|fieldRef\..*|resourceFieldRef\..*))?`,
		reason: veryField + "it leaves out which item"},
	{gaps: `field ` + anyPod + `volumes\[\d+\]\.projected\.(path|sources\[\d+\]\.serviceAccountToken\.path)`,
		reason: veryField + "it leaves out which token"},
	{gaps: `field ` + anyPod + `volumes\[\d+\]\.ephemeral\.volumeClaimTemplate\.spec\.resources(\.requests)?\[storage\]`,
		reason: veryField + "it leaves out requests"},
	{gaps: `field ` + anyPod + `volumes\[\d+\]\.(persistentDisk|gcePersistentDisk)\..*`, reason: veryField + "gcePersistentDisk has that name"},
	{gaps: `field ` + anyPod + `volumes\[\d+\]\.iscsi\.initiator[nN]ame`, reason: veryField + "initiatorName is written so"},
	{gaps: `warning ` + anyPod + `volumes\[\d+\]\.storage(os|OS)`, reason: veryField + "storageos is written so"},
	{gaps: `field ` + anyPod + `[hH]ost(PID|IPC)`, reason: veryField + "hostPID and hostIPC are written so"},
	{gaps: `field ` + anyPod + `(securityContext\.)?shareProcessNamespace`, reason: veryField + "it is the pod's own"},
	{gaps: `field ` + anyPod + `os(\.name)?`, reason: veryField + "the name is unknown, not the os"},
	{gaps: `field ` + anyPod + `overhead(\.limits)?\[.*\]`, reason: veryField + "overhead has no limits"},
	{gaps: `field ` + anyPod + `resources\.(containers\[\d+\]\[.*\]\.limits|limits\[.*\])`, reason: veryField + "the pod's limit is too small"},
	{gaps: `field ` + anyPod + `topologySpreadConstraints\[\d+\](\.\{topologyKey, whenUnsatisfiable\}|\[\d+\]|\.matchLabelKeys\[\d+\])?`,
		reason: veryField + "it makes up fields"},
	{gaps: `field ` + anyPod + `affinity\.pod\w+\.required\w+\[\d+\](\[\d+\]|\.namespace|\.namespaces\[\d+\]|\.matchLabelKeys\[\d+\])`,
		reason: veryField + "it leaves out which namespace and which key"},
	{
		cases:  []string{"templates: env: a field of another version", "pods: env: a field of another version"},
		gaps:   `field ` + anyContainer + `env\[0\]\.valueFrom\.fieldRef\.(apiVersion|fieldPath)`,
		reason: veryField + "the version is unknown, not the field",
	},
	{gaps: `type ` + anyPod + `(.*\.fieldPath|resources\.limits\[.*\])`, reason: "the values that are supported are listed: NotSupported, not Invalid"},
	{gaps: `type ` + anyContainer + `volume(Mounts|Devices)\[\d+\]\.(name|mountPath|devicePath)`, reason: "what is not there is not unknown, or there twice, as well"},
	{
		cases:  []string{"templates: volumes: a mount of a volume that is bad itself", "pods: volumes: a mount of a volume that is bad itself"},
		gaps:   `field ` + anyContainer + `volumeMounts\[0\]\.name`,
		mixed:  true,
		reason: "a volume with an error is there, so what mounts it is not reported",
	},
	{gaps: `field status\.conditions\[\d+\]\.[tT]ype`, reason: veryField + "type is written so"},
	{gaps: `warning status\.podIPs\[\d+\]\.ip`, reason: "nodes write addresses, and nodes read no warnings"},
	{gaps: `object spec\.tolerations`, reason: "one machine has no taints: no tolerations are added for a node that is not ready or cannot be reached"},
	{
		cases:  []string{"templates: containers: a signal*", "pods: containers: a signal*", "templates: scheduling: a group", "pods: scheduling: a group"},
		gaps:   `code|reason|field .*\.stopSignal|object .*\.(lifecycle|schedulingGroup)`,
		reason: "stopSignal and schedulingGroup are switched off in Kubernetes 1.36, which drops them silently; Stint keeps them, and its node refuses them or warns",
	},
}
