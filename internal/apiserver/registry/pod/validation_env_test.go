package pod

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestEnvironmentRules(t *testing.T) {
	env := firstContainer + "env[0]."
	fieldRef := func(path string) podEdit {
		return envFrom(corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}})
	}
	resourceRef := func(resource, divisor string) podEdit {
		return envFrom(corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: resource, Divisor: amount(divisor)}})
	}
	runPodCases(t, map[string]podCase{
		"a variable may be called nearly anything": {podEdits(withEnv(corev1.EnvVar{Name: "my-var.1", Value: "x"})), nil},
		"a variable has a name":                    {podEdits(withEnv(corev1.EnvVar{Value: "x"})), []string{env + "name Required"}},
		"a name has no equals sign":                {podEdits(withEnv(corev1.EnvVar{Name: "a=b"})), []string{env + "name Invalid"}},
		"a value comes from one place": {podEdits(withEnv(corev1.EnvVar{Name: "A", Value: "x", ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"},
		}})), []string{env + "valueFrom Invalid"}},
		"a source is of some kind": {podEdits(envFrom(corev1.EnvVarSource{})), []string{env + "valueFrom Invalid"}},
		"a source is of one kind": {podEdits(envFrom(corev1.EnvVarSource{
			FieldRef:         &corev1.ObjectFieldSelector{FieldPath: "metadata.name"},
			ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"},
		})), []string{env + "valueFrom Invalid"}},
		"a pod knows its index":                  {podEdits(fieldRef("metadata.annotations['batch.kubernetes.io/job-completion-index']")), nil},
		"a pod knows its label":                  {podEdits(fieldRef("metadata.labels['app']")), nil},
		"a pod knows its address":                {podEdits(fieldRef("status.podIP")), nil},
		"a field needs a path":                   {podEdits(fieldRef("")), []string{env + "valueFrom.fieldRef.fieldPath Required"}},
		"all labels are no value":                {podEdits(fieldRef("metadata.labels")), []string{env + "valueFrom.fieldRef.fieldPath NotSupported"}},
		"an unknown field is refused":            {podEdits(fieldRef("spec.hostname")), []string{env + "valueFrom.fieldRef.fieldPath NotSupported"}},
		"a key is taken of maps only":            {podEdits(fieldRef("metadata.name['a']")), []string{env + "valueFrom.fieldRef.fieldPath Invalid"}},
		"a key is a name":                        {podEdits(fieldRef("metadata.labels['a b']")), []string{env + "valueFrom.fieldRef Invalid"}},
		"a limit is told in a unit":              {podEdits(resourceRef("limits.memory", "1Mi")), nil},
		"a limit is told whole":                  {podEdits(resourceRef("limits.cpu", "0")), nil},
		"processors are not counted in megas":    {podEdits(resourceRef("requests.cpu", "1Mi")), []string{env + "valueFrom.resourceFieldRef.divisor Invalid"}},
		"a resource has a name":                  {podEdits(resourceRef("", "0")), []string{env + "valueFrom.resourceFieldRef.resource Required"}},
		"a resource is one that is known":        {podEdits(resourceRef("limits.gpu", "0")), []string{env + "valueFrom.resourceFieldRef.resource NotSupported"}},
		"a key of a config map needs both names": {podEdits(envFrom(corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{}})), []string{env + "valueFrom.configMapKeyRef.key Required", env + "valueFrom.configMapKeyRef.name Invalid"}},
		"a key of a secret is a file name":       {podEdits(envFrom(corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "a/b"}})), []string{env + "valueFrom.secretKeyRef.key Invalid"}},
		"a variable in a file is somewhere": {podEdits(envFrom(corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{Path: "../a", VolumeName: "v"}})),
			[]string{env + "valueFrom.fileKeyRef.key Required", env + "valueFrom.fileKeyRef.path Invalid", env + "valueFrom.fileKeyRef.volumeName NotFound"}},
		"a variable in a file is written by the pod": {podEdits(withVolume(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}),
			envFrom(corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{Path: "a", VolumeName: "data", Key: "K"}})),
			[]string{env + "valueFrom.fileKeyRef.volumeName Invalid"}},
		"all of something is of one thing": {podEdits(inContainer(func(c *corev1.Container) {
			c.EnvFrom = []corev1.EnvFromSource{{}, {SecretRef: &corev1.SecretEnvSource{}}, {Prefix: "a=", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}}
		})), []string{firstContainer + "envFrom Invalid", firstContainer + "envFrom[1].secretRef.name Required", firstContainer + "envFrom[2].prefix Invalid"}},
	})
}
