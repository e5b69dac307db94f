package registry

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

const firstContainer = "spec.containers[0]."

func TestPodSpecRules(t *testing.T) {
	runPodCases(t, map[string]podCase{
		"a plain pod is fine": {},
		"a pod needs a container": {podEdits(inSpec(func(s *corev1.PodSpec) { s.Containers = nil })),
			[]string{"spec.containers Required"}},
		"a restart policy is one of three": {podEdits(inSpec(func(s *corev1.PodSpec) { s.RestartPolicy = "Sometimes" })),
			[]string{"spec.restartPolicy NotSupported"}},
		"a deadline is in the future": {podEdits(inSpec(func(s *corev1.PodSpec) { s.ActiveDeadlineSeconds = ptr.To[int64](0) })),
			[]string{"spec.activeDeadlineSeconds Invalid"}},
		"a deadline fits into 32 bits": {podEdits(inSpec(func(s *corev1.PodSpec) { s.ActiveDeadlineSeconds = ptr.To[int64](1 << 31) })),
			[]string{"spec.activeDeadlineSeconds Invalid"}},
		"a node, an account and classes have names": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.NodeName, s.ServiceAccountName, s.PriorityClassName, s.RuntimeClassName = "No", "Ro", "Pr", ptr.To("Ru")
		})), []string{"spec.nodeName Invalid", "spec.priorityClassName Invalid", "spec.runtimeClassName Invalid", "spec.serviceAccountName Invalid"}},
		"a pod that waits behind a gate has no node": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.NodeName, s.SchedulingGates = "n1", []corev1.PodSchedulingGate{{Name: "quota"}}
		})), []string{"spec.nodeName Forbidden"}},
		"gates have distinct names": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.SchedulingGates = []corev1.PodSchedulingGate{{Name: "a"}, {Name: "a"}, {Name: "a b"}}
		})), []string{"spec.schedulingGates[1] Duplicate", "spec.schedulingGates[2] Invalid"}},
		"containers for debugging come later": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.EphemeralContainers = []corev1.EphemeralContainer{{}}
		})), []string{"spec.ephemeralContainers Forbidden"}},
		"an operating system is one of two": {podEdits(inSpec(func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: "plan9"} })),
			[]string{"spec.os.name NotSupported"}},
		"preemption is one of two": {podEdits(inSpec(func(s *corev1.PodSpec) { s.PreemptionPolicy = ptr.To(corev1.PreemptionPolicy("Maybe")) })),
			[]string{"spec.preemptionPolicy NotSupported"}},
		"a resource claim is named and refers to one thing": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.ResourceClaims = []corev1.PodResourceClaim{{Name: "a", ResourceClaimName: ptr.To("x")}, {Name: "a", ResourceClaimName: ptr.To("x")}, {}}
		})), []string{"spec.resourceClaims[1].name Duplicate", "spec.resourceClaims[2] Invalid", "spec.resourceClaims[2].name Required"}},
	})
}

func TestContainerRules(t *testing.T) {
	runPodCases(t, map[string]podCase{
		"a container has a name": {podEdits(inContainer(func(c *corev1.Container) { c.Name = "" })),
			[]string{firstContainer + "name Required"}},
		"a name is a DNS label": {podEdits(inContainer(func(c *corev1.Container) { c.Name = "My.Container" })),
			[]string{firstContainer + "name Invalid"}},
		"no two containers have one name": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.Containers = append(s.Containers, s.Containers[0])
		})), []string{"spec.containers[1].name Duplicate"}},
		"nor a container and an init container": {podEdits(withInit(corev1.Container{Name: "main"})),
			[]string{firstContainer + "name Duplicate"}},
		"a container has an image": {podEdits(inContainer(func(c *corev1.Container) { c.Image = "" })),
			[]string{firstContainer + "image Required"}},
		"an image has no blanks around it": {podEdits(inContainer(func(c *corev1.Container) { c.Image = " perl" })),
			[]string{firstContainer + "image Invalid"}},
		"policies are among the known": {podEdits(inContainer(func(c *corev1.Container) {
			c.ImagePullPolicy, c.TerminationMessagePolicy = "Now", "Mail"
		})), []string{firstContainer + "imagePullPolicy NotSupported", firstContainer + "terminationMessagePolicy NotSupported"}},
		"an init container may be a sidecar": {podEdits(withInit(corev1.Container{Name: "side", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)})), nil},
		"a restart policy is among the known": {podEdits(withInit(corev1.Container{Name: "side", RestartPolicy: ptr.To(corev1.ContainerRestartPolicy("Once"))})),
			[]string{"spec.initContainers[0].restartPolicy NotSupported"}},
		"rules need a policy": {podEdits(inContainer(func(c *corev1.Container) {
			c.RestartPolicyRules = []corev1.ContainerRestartRule{restartOn(42)}
		})), []string{firstContainer + "restartPolicy Required"}},
		"a rule tells when and what": {podEdits(inContainer(func(c *corev1.Container) {
			c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyNever)
			c.RestartPolicyRules = []corev1.ContainerRestartRule{restartOn(42), {Action: "Dance"}, restartOn(1, 1)}
		})), []string{firstContainer + "restartPolicyRules[1].action NotSupported", firstContainer + "restartPolicyRules[1].exitCodes Required",
			firstContainer + "restartPolicyRules[2].exitCodes.values[1] Duplicate"}},
		"there are at most 20 rules": {podEdits(inContainer(func(c *corev1.Container) {
			c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyNever)
			c.RestartPolicyRules = times(21, restartOn(42))
		})), []string{firstContainer + "restartPolicyRules TooMany"}},
		"ports are numbers up to 65535, with distinct names": {podEdits(inContainer(func(c *corev1.Container) {
			c.Ports = []corev1.ContainerPort{{Name: "web", ContainerPort: 80}, {Name: "web", ContainerPort: 70000}, {Name: "Not A Name"}, {ContainerPort: 1, Protocol: "X", HostIP: "h"}}
		})), []string{
			firstContainer + "ports[1].containerPort Invalid", firstContainer + "ports[1].name Duplicate",
			firstContainer + "ports[2].containerPort Required", firstContainer + "ports[2].name Invalid",
			firstContainer + "ports[3].hostIP Invalid", firstContainer + "ports[3].protocol NotSupported",
		}},
		"on the host's network a port is the host's": {podEdits(inSpec(func(s *corev1.PodSpec) { s.HostNetwork = true }), inContainer(func(c *corev1.Container) {
			c.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 81}}
		})), []string{firstContainer + "ports[0].hostPort Invalid"}},
		"a port of the host is had once": {podEdits(inContainer(func(c *corev1.Container) {
			c.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}, {ContainerPort: 81, HostPort: 80}}
		})), []string{firstContainer + "ports[1].hostPort Duplicate"}},
		"an init container is not probed": {podEdits(withInit(corev1.Container{Name: "first", LivenessProbe: tcpProbe(80), Lifecycle: &corev1.Lifecycle{}})),
			[]string{"spec.initContainers[0].lifecycle Forbidden", "spec.initContainers[0].livenessProbe Forbidden"}},
		"a sidecar may be": {podEdits(withInit(corev1.Container{Name: "side", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways), LivenessProbe: tcpProbe(80)})), nil},
		"a probe does one thing": {podEdits(inContainer(func(c *corev1.Container) {
			c.ReadinessProbe, c.StartupProbe = &corev1.Probe{}, tcpProbe(80)
			c.StartupProbe.Exec = &corev1.ExecAction{Command: []string{"true"}}
		})), []string{firstContainer + "readinessProbe Required", firstContainer + "startupProbe Forbidden"}},
		"a liveness probe succeeds once": {podEdits(inContainer(func(c *corev1.Container) {
			c.LivenessProbe = tcpProbe(0)
			c.LivenessProbe.SuccessThreshold, c.LivenessProbe.PeriodSeconds = 2, -1
		})), []string{firstContainer + "livenessProbe.periodSeconds Invalid", firstContainer + "livenessProbe.successThreshold Invalid", firstContainer + "livenessProbe.tcpSocket.port Invalid"}},
	})
}

func restartOn(codes ...int32) corev1.ContainerRestartRule {
	return corev1.ContainerRestartRule{
		Action:    corev1.ContainerRestartRuleActionRestart,
		ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: codes},
	}
}

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
		"a key is a name":                        {podEdits(fieldRef("metadata.labels['a b']")), []string{env + "valueFrom.fieldRef.fieldPath Invalid"}},
		"a limit is told in a unit":              {podEdits(resourceRef("limits.memory", "1Mi")), nil},
		"a limit is told whole":                  {podEdits(resourceRef("limits.cpu", "0")), nil},
		"processors are not counted in megas":    {podEdits(resourceRef("requests.cpu", "1Mi")), []string{env + "valueFrom.resourceFieldRef.divisor Invalid"}},
		"a resource has a name":                  {podEdits(resourceRef("", "0")), []string{env + "valueFrom.resourceFieldRef.resource Required"}},
		"a resource is one that is known":        {podEdits(resourceRef("limits.gpu", "0")), []string{env + "valueFrom.resourceFieldRef.resource NotSupported"}},
		"a key of a config map needs both names": {podEdits(envFrom(corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{}})), []string{env + "valueFrom.configMapKeyRef.key Required", env + "valueFrom.configMapKeyRef.name Required"}},
		"a key of a secret is a file name":       {podEdits(envFrom(corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "a/b"}})), []string{env + "valueFrom.secretKeyRef.key Invalid"}},
		"all of something is of one thing": {podEdits(inContainer(func(c *corev1.Container) {
			c.EnvFrom = []corev1.EnvFromSource{{}, {SecretRef: &corev1.SecretEnvSource{}}, {Prefix: "a=", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}}
		})), []string{firstContainer + "envFrom[0] Invalid", firstContainer + "envFrom[1].secretRef.name Required", firstContainer + "envFrom[2].prefix Invalid"}},
	})
}

func TestVolumeRules(t *testing.T) {
	file := func(f corev1.DownwardAPIVolumeFile) podEdit {
		return withVolume(corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{f}}})
	}
	name := &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}
	config := func(path string) corev1.VolumeProjection {
		return corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Items: []corev1.KeyToPath{{Key: "k", Path: path}},
		}}
	}
	const v0 = "spec.volumes[0]."
	runPodCases(t, map[string]podCase{
		"an empty folder is fine": {podEdits(withVolume(corev1.VolumeSource{})), nil},
		"volumes have distinct names": {podEdits(withVolume(corev1.VolumeSource{}), inSpec(func(s *corev1.PodSpec) {
			s.Volumes = append(s.Volumes, s.Volumes[0], corev1.Volume{})
		})), []string{"spec.volumes[1].name Duplicate", "spec.volumes[2].name Required"}},
		"a volume is of one kind": {podEdits(withVolume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}, HostPath: &corev1.HostPathVolumeSource{Path: "/"}})),
			[]string{v0 + "emptyDir Forbidden"}},
		"a folder is not less than empty": {podEdits(withVolume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(amount("-1"))}})),
			[]string{v0 + "emptyDir.sizeLimit Invalid"}},
		"a host path is somewhere":     {podEdits(withVolume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}})), []string{v0 + "hostPath.path Required"}},
		"a host path does not climb":   {podEdits(withVolume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/a/../b"}})), []string{v0 + "hostPath.path Invalid"}},
		"a host path is of some type":  {podEdits(withVolume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/a", Type: ptr.To(corev1.HostPathType("Door"))}})), []string{v0 + "hostPath.type NotSupported"}},
		"a secret has a name":          {podEdits(withVolume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}})), []string{v0 + "secret.secretName Required"}},
		"a config map has a name":      {podEdits(withVolume(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}})), []string{v0 + "configMap.name Required"}},
		"a mode has nine bits":         {podEdits(withVolume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", DefaultMode: ptr.To[int32](0o1000)}})), []string{v0 + "secret.defaultMode Invalid"}},
		"a claim has a name":           {podEdits(withVolume(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{}})), []string{v0 + "persistentVolumeClaim.claimName Required"}},
		"a file's path is inside":      {podEdits(file(corev1.DownwardAPIVolumeFile{Path: "../x", FieldRef: name})), []string{v0 + "downwardAPI.items[0].path Invalid"}},
		"a file's path is relative":    {podEdits(file(corev1.DownwardAPIVolumeFile{Path: "/x", FieldRef: name})), []string{v0 + "downwardAPI.items[0].path Invalid"}},
		"a file does not look hidden":  {podEdits(file(corev1.DownwardAPIVolumeFile{Path: "..x", FieldRef: name})), []string{v0 + "downwardAPI.items[0].path Invalid"}},
		"a file shows something":       {podEdits(file(corev1.DownwardAPIVolumeFile{Path: "x"})), []string{v0 + "downwardAPI.items[0] Required"}},
		"a file shows all labels":      {podEdits(file(corev1.DownwardAPIVolumeFile{Path: "x", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}})), nil},
		"a file cannot show a status":  {podEdits(file(corev1.DownwardAPIVolumeFile{Path: "x", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}})), []string{v0 + "downwardAPI.items[0].fieldRef.fieldPath NotSupported"}},
		"a file shows whose limit":     {podEdits(file(corev1.DownwardAPIVolumeFile{Path: "x", ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}})), []string{v0 + "downwardAPI.items[0].resourceFieldRef.containerName Required"}},
		"a source among many is one":   {podEdits(withProjection(corev1.VolumeProjection{})), []string{v0 + "projected.sources[0] Required"}},
		"sources do not share a path":  {podEdits(withProjection(config("a"), config("a"))), []string{v0 + "projected.sources[1].configMap.items[0].path Invalid"}},
		"sources have their own paths": {podEdits(withProjection(config("a"), config("b"))), nil},
		"a source is named": {podEdits(withProjection(corev1.VolumeProjection{Secret: &corev1.SecretProjection{}, ConfigMap: &corev1.ConfigMapProjection{}})),
			[]string{v0 + "projected.sources[0] Forbidden", v0 + "projected.sources[0].configMap.name Required", v0 + "projected.sources[0].secret.name Required"}},
		"a key becomes a path": {podEdits(withVolume(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Items: []corev1.KeyToPath{{}},
		}})), []string{v0 + "configMap.items[0].key Required", v0 + "configMap.items[0].path Required"}},
	})
}

func TestMountRules(t *testing.T) {
	const m0 = firstContainer + "volumeMounts[0]."
	mounted := func(edit func(*corev1.VolumeMount)) []podEdit {
		return podEdits(withVolume(corev1.VolumeSource{}), inMount(edit))
	}
	runPodCases(t, map[string]podCase{
		"a mount shows a volume of the pod": {mounted(func(m *corev1.VolumeMount) { m.Name = "other" }), []string{m0 + "name NotFound"}},
		"a mount has a name and a path":     {mounted(func(m *corev1.VolumeMount) { *m = corev1.VolumeMount{} }), []string{m0 + "mountPath Required", m0 + "name Required"}},
		"no two mounts have one path": {podEdits(withVolume(corev1.VolumeSource{}), inContainer(func(c *corev1.Container) {
			c.VolumeMounts = append(c.VolumeMounts, c.VolumeMounts[0])
		})), []string{firstContainer + "volumeMounts[1].mountPath Invalid"}},
		"a part is inside":                {mounted(func(m *corev1.VolumeMount) { m.SubPath = "a/../../b" }), []string{m0 + "subPath Invalid"}},
		"a part is relative":              {mounted(func(m *corev1.VolumeMount) { m.SubPath = "/b" }), []string{m0 + "subPath Invalid"}},
		"a part is named once":            {mounted(func(m *corev1.VolumeMount) { m.SubPath, m.SubPathExpr = "a", "$(A)" }), []string{m0 + "subPathExpr Invalid"}},
		"an expression is inside":         {mounted(func(m *corev1.VolumeMount) { m.SubPathExpr = "../$(A)" }), []string{m0 + "subPathExpr Invalid"}},
		"propagation is among the known":  {mounted(func(m *corev1.VolumeMount) { m.MountPropagation = ptr.To(corev1.MountPropagationMode("Up")) }), []string{m0 + "mountPropagation NotSupported"}},
		"propagating out needs privilege": {mounted(func(m *corev1.VolumeMount) { m.MountPropagation = ptr.To(corev1.MountPropagationBidirectional) }), []string{m0 + "mountPropagation Forbidden"}},
		"all below is read-only if the mount is": {mounted(func(m *corev1.VolumeMount) { m.RecursiveReadOnly = ptr.To(corev1.RecursiveReadOnlyEnabled) }),
			[]string{m0 + "recursiveReadOnly Forbidden"}},
		"a device is a volume elsewhere": {podEdits(withVolume(corev1.VolumeSource{}), inContainer(func(c *corev1.Container) {
			c.VolumeDevices = []corev1.VolumeDevice{{Name: "data", DevicePath: "/data"}}
		})), []string{firstContainer + "volumeDevices[0].devicePath Invalid"}},
	})
}

func TestResourceRules(t *testing.T) {
	resources := func(requests, limits corev1.ResourceList) []podEdit {
		return podEdits(inContainer(func(c *corev1.Container) { c.Resources.Requests, c.Resources.Limits = requests, limits }))
	}
	list := func(name corev1.ResourceName, quantity string) corev1.ResourceList {
		return corev1.ResourceList{name: amount(quantity)}
	}
	const r = firstContainer + "resources."
	runPodCases(t, map[string]podCase{
		"a request may be less than the limit": {resources(list("cpu", "1"), list("cpu", "2")), nil},
		"a request may not be more":            {resources(list("cpu", "3"), list("cpu", "2")), []string{r + "requests[cpu] Invalid"}},
		"an amount is not negative":            {resources(list("memory", "-1"), nil), []string{r + "requests[memory] Invalid"}},
		"a resource is known or has a domain":  {resources(list("gpu", "1"), nil), []string{r + "limits[gpu] Required", r + "requests[gpu] Invalid"}},
		"a device is limited":                  {resources(list("example.com/gpu", "1"), nil), []string{r + "limits[example.com/gpu] Required"}},
		"a device is not halved":               {resources(list("example.com/gpu", "500m"), list("example.com/gpu", "500m")), []string{r + "limits[example.com/gpu] Invalid", r + "requests[example.com/gpu] Invalid"}},
		"a device is not shared":               {resources(list("example.com/gpu", "1"), list("example.com/gpu", "2")), []string{r + "requests[example.com/gpu] Invalid"}},
		"huge pages need other memory":         {resources(nil, list("hugepages-2Mi", "2Mi")), []string{firstContainer + "resources Forbidden"}},
		"a pod asks for cpu and memory":        {podEdits(inSpec(func(s *corev1.PodSpec) { s.Resources = &corev1.ResourceRequirements{Requests: list("cpu", "1")} })), nil},
		"a pod asks for nothing else": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.Resources = &corev1.ResourceRequirements{Requests: list("ephemeral-storage", "1")}
		})), []string{"spec.resources.requests[ephemeral-storage] NotSupported"}},
		"a claim is one of the pod's": {podEdits(inContainer(func(c *corev1.Container) { c.Resources.Claims = []corev1.ResourceClaim{{Name: "x"}, {}} })), []string{r + "claims[0].name NotFound", r + "claims[1].name Required"}},
		"resizing has one policy for each": {podEdits(inContainer(func(c *corev1.Container) {
			c.ResizePolicy = times(2, corev1.ContainerResizePolicy{ResourceName: "cpu", RestartPolicy: "NotRequired"})
		})), []string{firstContainer + "resizePolicy[1] Duplicate"}},
		"resizing has a policy that is known":    {podEdits(inContainer(func(c *corev1.Container) { c.ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: "gpu"}} })), []string{firstContainer + "resizePolicy[0].resourceName NotSupported", firstContainer + "resizePolicy[0].restartPolicy Required"}},
		"overhead is an amount of what is known": {podEdits(inSpec(func(s *corev1.PodSpec) { s.Overhead = list("gpu", "-1") })), []string{"spec.overhead[gpu] Invalid", "spec.overhead[gpu] Invalid"}},
	})
}

func TestSecurityRules(t *testing.T) {
	secured := func(s corev1.SecurityContext) []podEdit {
		return podEdits(inContainer(func(c *corev1.Container) { c.SecurityContext = &s }))
	}
	pod := func(s corev1.PodSecurityContext) []podEdit {
		return podEdits(inSpec(func(spec *corev1.PodSpec) { spec.SecurityContext = &s }))
	}
	const s = firstContainer + "securityContext"
	runPodCases(t, map[string]podCase{
		"a user is a number from 0":            {secured(corev1.SecurityContext{RunAsUser: ptr.To[int64](-1), RunAsGroup: ptr.To[int64](1 << 40)}), []string{s + ".runAsGroup Invalid", s + ".runAsUser Invalid"}},
		"privilege cannot be kept from rising": {secured(corev1.SecurityContext{Privileged: ptr.To(true), AllowPrivilegeEscalation: ptr.To(false)}), []string{s + " Invalid"}},
		"nor can the administrator":            {secured(corev1.SecurityContext{AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"CAP_SYS_ADMIN"}}}), []string{s + " Invalid"}},
		"a proc mount is among the known":      {secured(corev1.SecurityContext{ProcMount: ptr.To(corev1.ProcMountType("None"))}), []string{s + ".procMount NotSupported"}},
		"an open proc mount needs own users":   {secured(corev1.SecurityContext{ProcMount: ptr.To(corev1.UnmaskedProcMount)}), []string{s + ".procMount Invalid"}},
		"a local profile is named":             {secured(corev1.SecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: "Localhost"}}), []string{s + ".seccompProfile.localhostProfile Required"}},
		"only a local profile is named":        {secured(corev1.SecurityContext{AppArmorProfile: &corev1.AppArmorProfile{Type: "RuntimeDefault", LocalhostProfile: ptr.To("x")}}), []string{s + ".appArmorProfile.localhostProfile Invalid"}},
		"groups are numbers from 0":            {pod(corev1.PodSecurityContext{FSGroup: ptr.To[int64](-1), SupplementalGroups: []int64{1, -1}}), []string{"spec.securityContext.fsGroup Invalid", "spec.securityContext.supplementalGroups[1] Invalid"}},
		"policies are among the known": {pod(corev1.PodSecurityContext{
			FSGroupChangePolicy: ptr.To(corev1.PodFSGroupChangePolicy("No")), SupplementalGroupsPolicy: ptr.To(corev1.SupplementalGroupsPolicy("No")),
			SELinuxChangePolicy: ptr.To(corev1.PodSELinuxChangePolicy("No")),
		}), []string{"spec.securityContext.fsGroupChangePolicy NotSupported", "spec.securityContext.seLinuxChangePolicy NotSupported", "spec.securityContext.supplementalGroupsPolicy NotSupported"}},
		"a kernel parameter is named once": {pod(corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{Name: "net.a"}, {Name: "net/a"}, {Name: "!"}, {}}}),
			[]string{"spec.securityContext.sysctls[1].name Duplicate", "spec.securityContext.sysctls[2].name Invalid", "spec.securityContext.sysctls[3].name Required"}},
		"process ids are the machine's or the pod's": {podEdits(inSpec(func(s *corev1.PodSpec) { s.HostPID, s.ShareProcessNamespace = true, ptr.To(true) })), []string{"spec.shareProcessNamespace Invalid"}},
		"own users need own namespaces":              {podEdits(inSpec(func(s *corev1.PodSpec) { s.HostNetwork, s.HostUsers = true, ptr.To(false) })), []string{"spec.hostUsers Forbidden"}},
	})
}

func TestSchedulingRules(t *testing.T) {
	tolerating := func(tolerations ...corev1.Toleration) []podEdit {
		return podEdits(inSpec(func(s *corev1.PodSpec) { s.Tolerations = tolerations }))
	}
	affine := func(a corev1.Affinity) []podEdit {
		return podEdits(inSpec(func(s *corev1.PodSpec) { s.Affinity = &a }))
	}
	node := func(r corev1.NodeSelectorRequirement) []podEdit {
		return affine(corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{r}}},
		}}})
	}
	const must = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
	runPodCases(t, map[string]podCase{
		"a node is chosen by labels":          {podEdits(inSpec(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"a b": "c"} })), []string{"spec.nodeSelector Invalid"}},
		"all taints are tolerated by Exists":  {tolerating(corev1.Toleration{Operator: "Exists"}), nil},
		"a toleration of no key is of all":    {tolerating(corev1.Toleration{Operator: "Equal"}), []string{"spec.tolerations[0].operator Invalid"}},
		"what exists has no value":            {tolerating(corev1.Toleration{Key: "a", Operator: "Exists", Value: "b"}), []string{"spec.tolerations[0].operator Invalid"}},
		"an operator is among the known":      {tolerating(corev1.Toleration{Key: "a", Operator: "Near"}), []string{"spec.tolerations[0].operator NotSupported"}},
		"an effect is among the known":        {tolerating(corev1.Toleration{Key: "a", Effect: "Some"}), []string{"spec.tolerations[0].effect NotSupported"}},
		"only eviction takes time":            {tolerating(corev1.Toleration{Key: "a", Effect: "NoSchedule", TolerationSeconds: ptr.To[int64](1)}), []string{"spec.tolerations[0].effect Invalid"}},
		"a value is a label's":                {tolerating(corev1.Toleration{Key: "a", Value: "b c"}), []string{"spec.tolerations[0].operator Invalid"}},
		"In needs values":                     {node(corev1.NodeSelectorRequirement{Key: "a", Operator: "In"}), []string{must + "[0].matchExpressions[0].values Required"}},
		"Exists has none":                     {node(corev1.NodeSelectorRequirement{Key: "a", Operator: "Exists", Values: []string{"b"}}), []string{must + "[0].matchExpressions[0].values Forbidden"}},
		"Gt has one":                          {node(corev1.NodeSelectorRequirement{Key: "a", Operator: "Gt"}), []string{must + "[0].matchExpressions[0].values Required"}},
		"a comparison is one of six":          {node(corev1.NodeSelectorRequirement{Key: "a", Operator: "Like"}), []string{must + "[0].matchExpressions[0].operator Invalid"}},
		"what is required is something":       {affine(corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{}}}), []string{must + " Required"}},
		"a preference weighs up to 100":       {affine(corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 101}}}}), []string{"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight Invalid"}},
		"pods are near in some respect":       {affine(corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{}}}}), []string{"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey Required"}},
		"pods are apart to some degree":       {affine(corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: "zone"}}}}}), []string{"spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight Invalid"}},
		"a condition for readiness is a name": {podEdits(inSpec(func(s *corev1.PodSpec) { s.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "a b"}} })), []string{"spec.readinessGates[0].conditionType Invalid"}},
		"spreading is over something, by some number, once": {podEdits(inSpec(func(s *corev1.PodSpec) {
			zone := corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: "DoNotSchedule"}
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{zone, zone, {MinDomains: ptr.To[int32](0)}}
		})), []string{"spec.topologySpreadConstraints[1] Duplicate", "spec.topologySpreadConstraints[2].maxSkew Invalid", "spec.topologySpreadConstraints[2].minDomains Invalid",
			"spec.topologySpreadConstraints[2].topologyKey Required", "spec.topologySpreadConstraints[2].whenUnsatisfiable Required"}},
	})
}

func TestNetworkRules(t *testing.T) {
	runPodCases(t, map[string]podCase{
		"a host name is a label": {podEdits(inSpec(func(s *corev1.PodSpec) { s.Hostname, s.Subdomain = "a.b", "A" })),
			[]string{"spec.hostname Invalid", "spec.subdomain Invalid"}},
		"a name that overrides all others is short and alone": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.HostnameOverride, s.SetHostnameAsFQDN, s.HostNetwork = ptr.To(strings.Repeat("a", 65)), ptr.To(true), true
		})), []string{"spec.hostnameOverride Forbidden", "spec.hostnameOverride Forbidden", "spec.hostnameOverride TooLong"}},
		"an alias is an address and names": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.HostAliases = []corev1.HostAlias{{IP: "1.2.3", Hostnames: []string{"A_"}}}
		})), []string{"spec.hostAliases[0].hostnames[0] Invalid", "spec.hostAliases[0].ip Invalid"}},
		"a way to find names is among the known": {podEdits(inSpec(func(s *corev1.PodSpec) { s.DNSPolicy = "Ask" })), []string{"spec.dnsPolicy NotSupported"}},
		"no way to find names needs another":     {podEdits(inSpec(func(s *corev1.PodSpec) { s.DNSPolicy = corev1.DNSNone })), []string{"spec.dnsConfig.nameservers Required"}},
		"there are up to three name servers": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.DNSConfig = &corev1.PodDNSConfig{Nameservers: times(4, "1.1.1.1"), Searches: times(33, "a"), Options: []corev1.PodDNSConfigOption{{}}}
		})), []string{"spec.dnsConfig.nameservers TooMany", "spec.dnsConfig.options[0].name Required", "spec.dnsConfig.searches TooMany"}},
	})
}

func TestTemplateMetadataIsJudged(t *testing.T) {
	template := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a b": "c"}, Annotations: map[string]string{"d e": "f"}, Finalizers: []string{"g h"}},
		Spec:       createdPod().Spec,
	}
	wantErrors(t, validatePodTemplateSpec(template, Options{}, field.NewPath("spec", "template")),
		"spec.template.metadata.annotations Invalid", "spec.template.metadata.finalizers Invalid", "spec.template.metadata.labels Invalid")
}

func TestPodWarnings(t *testing.T) {
	for sentence, c := range map[string]struct {
		edit podEdit
		want string
	}{
		"a negative grace period is as good as none": {inSpec(func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = ptr.To[int64](-5) }),
			"spec.terminationGracePeriodSeconds: "},
		"a variable that hides another": {withEnv(corev1.EnvVar{Name: "A", Value: "1"}, corev1.EnvVar{Name: "A", Value: "2"}),
			firstContainer + "env[1]: "},
		"a variable that builds on another": {withEnv(corev1.EnvVar{Name: "A", Value: "1"}, corev1.EnvVar{Name: "A", Value: "$(A)2"}), ""},
		"a secret without a name": {inSpec(func(s *corev1.PodSpec) { s.ImagePullSecrets = []corev1.LocalObjectReference{{}} }),
			"spec.imagePullSecrets[0].name: "},
		"a tenth of a byte": {inContainer(func(c *corev1.Container) {
			c.Resources.Requests = corev1.ResourceList{"memory": amount("100m")}
		}), firstContainer + "resources.requests[memory]: "},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := Pod(Options{}).WarningsOnCreate(context.Background(), createdPod(c.edit))
			if c.want == "" && len(got) == 0 {
				return
			}
			if len(got) != 1 || c.want == "" || !strings.HasPrefix(got[0], c.want) {
				t.Errorf("got %q, want one that starts with %q", got, c.want)
			}
		})
	}
}
