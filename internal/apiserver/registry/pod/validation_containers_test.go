package pod

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

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
			[]string{"spec.initContainers[0].name Duplicate"}},
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
			c.RestartPolicyRules = []corev1.ContainerRestartRule{restartOn(42), {Action: "Dance"}}
		})), []string{firstContainer + "restartPolicyRules[1].action NotSupported", firstContainer + "restartPolicyRules[1].exitCodes Required"}},
		"there are at most 20 rules": {podEdits(inContainer(func(c *corev1.Container) {
			c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyNever)
			c.RestartPolicyRules = registrytest.Times(21, restartOn(42))
		})), []string{firstContainer + "restartPolicyRules TooMany"}},
		"ports are numbers up to 65535, with distinct names": {podEdits(inContainer(func(c *corev1.Container) {
			c.Ports = []corev1.ContainerPort{{Name: "web", ContainerPort: 80}, {Name: "web", ContainerPort: 70000}, {Name: "Not A Name"}, {ContainerPort: 1, Protocol: "X", HostIP: "h"}}
		})), []string{
			firstContainer + "ports[1].containerPort Invalid", firstContainer + "ports[1].name Duplicate",
			firstContainer + "ports[2].containerPort Required", firstContainer + "ports[2].name Invalid",
			firstContainer + "ports[3].protocol NotSupported",
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
		})), []string{firstContainer + "readinessProbe Required", firstContainer + "startupProbe.tcpSocket Forbidden"}},
		"a probe over HTTP asks for something somewhere": {podEdits(inContainer(func(c *corev1.Container) {
			c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Port: intstr.FromString("No Port"), Scheme: "FTP", HTTPHeaders: []corev1.HTTPHeader{{Name: "a b"}},
			}}}
		})), []string{firstContainer + "readinessProbe.httpGet.httpHeaders[0].name Invalid", firstContainer + "readinessProbe.httpGet.port Invalid", firstContainer + "readinessProbe.httpGet.scheme NotSupported"}},
		"a probe over gRPC has a port, a command has words": {podEdits(inContainer(func(c *corev1.Container) {
			c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{}}}
			c.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{}}}
		})), []string{firstContainer + "livenessProbe.exec.command Required", firstContainer + "readinessProbe.grpc.port Invalid"}},
		"only what ends a container has a grace period": {podEdits(inContainer(func(c *corev1.Container) {
			c.ReadinessProbe, c.LivenessProbe = tcpProbe(80), tcpProbe(80)
			c.ReadinessProbe.TerminationGracePeriodSeconds, c.LivenessProbe.TerminationGracePeriodSeconds = ptr.To[int64](1), ptr.To[int64](0)
		})), []string{firstContainer + "livenessProbe.terminationGracePeriodSeconds Invalid", firstContainer + "readinessProbe.terminationGracePeriodSeconds Invalid"}},
		"a hook does something": {podEdits(inContainer(func(c *corev1.Container) {
			c.Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{}, PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: -1}}}
		})), []string{firstContainer + "lifecycle.postStart Required", firstContainer + "lifecycle.preStop.sleep Invalid"}},
		"a signal depends on the system": {podEdits(inContainer(func(c *corev1.Container) {
			c.Lifecycle = &corev1.Lifecycle{StopSignal: ptr.To(corev1.SIGINT)}
		})), []string{firstContainer + "lifecycle.stopSignal Forbidden"}},
		"a stop signal is one of Linux": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.OS = &corev1.PodOS{Name: corev1.Linux}
			s.Containers[0].Lifecycle = &corev1.Lifecycle{StopSignal: ptr.To(corev1.Signal("SIGSTINT"))}
		})), []string{firstContainer + "lifecycle.stopSignal Invalid"}},
		"a rule tells how to compare, within bounds": {podEdits(inContainer(func(c *corev1.Container) {
			c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyNever)
			rule := restartOn(registrytest.UpTo(256)...)
			rule.ExitCodes.Operator = "Near"
			c.RestartPolicyRules = []corev1.ContainerRestartRule{rule}
		})), []string{firstContainer + "restartPolicyRules[0].exitCodes.operator NotSupported", firstContainer + "restartPolicyRules[0].exitCodes.values TooMany"}},
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
