package pod

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

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
		"a local profile is inside":            {secured(corev1.SecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: "Localhost", LocalhostProfile: ptr.To("../x")}}), []string{s + ".seccompProfile.localhostProfile Invalid"}},
		"only a local profile is named":        {secured(corev1.SecurityContext{AppArmorProfile: &corev1.AppArmorProfile{Type: "RuntimeDefault", LocalhostProfile: ptr.To("x")}}), []string{s + ".appArmorProfile.localhostProfile Invalid"}},
		"groups are numbers from 0":            {pod(corev1.PodSecurityContext{FSGroup: ptr.To[int64](-1), SupplementalGroups: []int64{1, -1}}), []string{"spec.securityContext.fsGroup Invalid", "spec.securityContext.supplementalGroups[1] Invalid"}},
		"policies are among the known": {pod(corev1.PodSecurityContext{
			FSGroupChangePolicy: ptr.To(corev1.PodFSGroupChangePolicy("No")), SupplementalGroupsPolicy: ptr.To(corev1.SupplementalGroupsPolicy("No")),
			SELinuxChangePolicy: ptr.To(corev1.PodSELinuxChangePolicy("No")),
		}), []string{"spec.securityContext.fsGroupChangePolicy NotSupported", "spec.securityContext.seLinuxChangePolicy NotSupported", "spec.securityContext.supplementalGroupsPolicy NotSupported"}},
		"a kernel parameter is named once": {pod(corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{Name: "net.a"}, {Name: "net.a"}, {Name: "!"}, {}}}),
			[]string{"spec.securityContext.sysctls[1].name Duplicate", "spec.securityContext.sysctls[2].name Invalid", "spec.securityContext.sysctls[3].name Required"}},
		"process ids are the machine's or the pod's": {podEdits(inSpec(func(s *corev1.PodSpec) { s.HostPID, s.ShareProcessNamespace = true, ptr.To(true) })), []string{"spec.shareProcessNamespace Invalid"}},
		"own users need own namespaces":              {podEdits(inSpec(func(s *corev1.PodSpec) { s.HostNetwork, s.HostUsers = true, ptr.To(false) })), []string{"spec.hostNetwork Forbidden"}},
		"the machine's kernel parameters are not the pod's": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.HostNetwork, s.HostIPC = true, true
			s.SecurityContext = &corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{Name: "net/ipv4/ip_forward"}, {Name: "kernel.shmmax"}, {Name: "vm.swappiness"}}}
		})), []string{"spec.securityContext.sysctls[0].name Invalid", "spec.securityContext.sysctls[1].name Invalid"}},
		"a pod of linux has no options of windows": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.OS, s.SecurityContext = &corev1.PodOS{Name: corev1.Linux}, &corev1.PodSecurityContext{WindowsOptions: &corev1.WindowsSecurityContextOptions{}}
		})), []string{"spec.securityContext.windowsOptions Forbidden"}},
		"an annotation about a profile says what the field says": {podEdits(func(p *corev1.Pod) {
			p.Annotations = map[string]string{"container.seccomp.security.alpha.kubernetes.io/main": "unconfined", "container.apparmor.security.beta.kubernetes.io/main": "localhost/a"}
		}, inContainer(func(c *corev1.Container) {
			c.SecurityContext = &corev1.SecurityContext{
				SeccompProfile:  &corev1.SeccompProfile{Type: "RuntimeDefault"},
				AppArmorProfile: &corev1.AppArmorProfile{Type: "Localhost", LocalhostProfile: ptr.To("b")},
			}
		})), []string{s + ".appArmorProfile.localhostProfile Forbidden", s + ".seccompProfile.type Forbidden"}},
	})
}
