package pod

import (
	"context"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// honourCase is a pod and a node, with the expected findings.
type honourCase struct {
	edit podEdit
	node runtime.Info
	// refused and warned are the expected fields.
	refused, warned []string
}

func TestWhatNodeCannotIsRefusedOrWarnedAbout(t *testing.T) {
	inSecurity := func(edit func(*corev1.SecurityContext)) podEdit {
		return inContainer(func(c *corev1.Container) {
			c.SecurityContext = &corev1.SecurityContext{}
			edit(c.SecurityContext)
		})
	}
	const c0 = "spec.containers[0]."
	for sentence, c := range map[string]honourCase{
		"a plain pod passes":                       {edit: inSpec(func(*corev1.PodSpec) {}), node: registrytest.Able},
		"a plain pod passes where nothing is able": {edit: inSpec(func(*corev1.PodSpec) {}), node: unable},
		"a process needs a command": {edit: inContainer(func(c *corev1.Container) { c.Command = nil }), node: registrytest.Able,
			refused: []string{c0 + "command"}},
		"a container runtime knows the entrypoint": {edit: inContainer(func(c *corev1.Container) { c.Command = nil }),
			node: runtime.Info{Name: "containerd", CanMount: true, CanSetUser: true, CanSetHostname: true}},
		"arguments alone are no command": {edit: inContainer(func(c *corev1.Container) { c.Command, c.Args = nil, []string{"x"} }), node: registrytest.Able,
			refused: []string{c0 + "command"}},
		"init containers are judged too": {edit: withInit(corev1.Container{Name: "first", TTY: true}), node: unable,
			refused: []string{"spec.initContainers[0].tty"}},

		"an affinity is ignored": {edit: inSpec(func(s *corev1.PodSpec) { s.Affinity = &corev1.Affinity{} }), node: registrytest.Able,
			warned: []string{"spec.affinity"}},
		"a node selector is ignored": {edit: inSpec(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"disk": "ssd"} }), node: registrytest.Able,
			warned: []string{"spec.nodeSelector"}},
		"tolerations are kept": {edit: inSpec(func(s *corev1.PodSpec) {
			s.Tolerations = []corev1.Toleration{{Key: "gpu", Operator: "Exists"}}
		}), node: registrytest.Able},
		"spreading is ignored": {edit: inSpec(func(s *corev1.PodSpec) {
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: "DoNotSchedule"}}
		}), node: registrytest.Able, warned: []string{"spec.topologySpreadConstraints"}},
		"another scheduler is ignored": {edit: inSpec(func(s *corev1.PodSpec) { s.SchedulerName = "mine" }), node: registrytest.Able,
			warned: []string{"spec.schedulerName"}},
		"a priority is ignored": {edit: inSpec(func(s *corev1.PodSpec) { s.Priority, s.PriorityClassName = ptr.To[int32](5), "high" }), node: registrytest.Able,
			warned: []string{"spec.priorityClassName", "spec.priority"}},
		"an account is ignored": {edit: inSpec(func(s *corev1.PodSpec) { s.ServiceAccountName = "robot" }), node: registrytest.Able,
			warned: []string{"spec.serviceAccountName"}},
		"a token that is asked for is missed": {edit: inSpec(func(s *corev1.PodSpec) { s.AutomountServiceAccountToken = ptr.To(true) }), node: registrytest.Able,
			warned: []string{"spec.automountServiceAccountToken"}},
		"a token that is not wanted is not missed": {edit: inSpec(func(s *corev1.PodSpec) { s.AutomountServiceAccountToken = ptr.To(false) }), node: registrytest.Able},
		"pull secrets are ignored": {edit: inSpec(func(s *corev1.PodSpec) { s.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "reg"}} }), node: registrytest.Able,
			warned: []string{"spec.imagePullSecrets"}},
		"more names are for images":  {edit: inSpec(addAlias), node: ofImages},
		"for processes, with mounts": {edit: inSpec(addAlias), node: registrytest.Able},
		"not without":                {edit: inSpec(addAlias), node: unable, refused: []string{"spec.hostAliases"}},
		"the machine's namespaces":   {edit: inSpec(shareNamespaces), node: ofImagesAsRoot},
		"not those of another's":     {edit: inSpec(shareNamespaces), node: ofImages, refused: []string{"spec.hostPID", "spec.hostIPC"}},
		"nor for processes":          {edit: inSpec(shareNamespaces), node: registrytest.Able, refused: []string{"spec.hostPID", "spec.hostIPC"}},
		"users of one's own as root": {edit: inSpec(ownUsers), node: ofImagesAsRoot, refused: []string{"spec.hostUsers"}},
		"users of one's own without": {edit: inSpec(ownUsers), node: ofImages},
		"ids of processes for all":   {edit: inSpec(sharePIDs), node: ofImages},
		"not of an old host":         {edit: inSpec(sharePIDs), node: imagesOnly, refused: []string{"spec.shareProcessNamespace"}},
		"kernel parameters":          {edit: inSpec(setSysctl("kernel/sem")), node: ofImages},
		"not the machine's":          {edit: inSpec(setSysctl("net.core.somaxconn")), node: ofImages, refused: []string{"spec.securityContext.sysctls"}},
		"nor those of an old host":   {edit: inSpec(setSysctl("kernel.sem")), node: imagesOnly, refused: []string{"spec.securityContext.sysctls"}},
		"privileges":                 {edit: inSecurity(bePrivileged), node: ofImages},
		"privileges of an old host":  {edit: inSecurity(bePrivileged), node: imagesOnly, refused: []string{c0 + "securityContext.privileged"}},
		"pull secrets are for images": {edit: inSpec(func(s *corev1.PodSpec) { s.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "reg"}} }),
			node: runtime.Info{Name: runtime.ClassOCI, CanRunImages: true, CanMount: true, CanSetUser: true, CanSetHostname: true}},
		"a pull policy of one's own is ignored": {edit: inContainer(func(c *corev1.Container) { c.ImagePullPolicy = "Always" }), node: registrytest.Able,
			warned: []string{c0 + "imagePullPolicy"}},
		"the pull policy that any pod gets needs no word": {edit: inContainer(func(c *corev1.Container) { c.ImagePullPolicy = "IfNotPresent" }), node: registrytest.Able},
		"the machine's network is all there is":           {edit: inSpec(func(s *corev1.PodSpec) { s.HostNetwork = true }), node: registrytest.Able},
		"a port is information": {edit: inContainer(func(c *corev1.Container) {
			c.Ports = []corev1.ContainerPort{{ContainerPort: 80}}
		}), node: registrytest.Able},
		"a port cannot be another one outside": {edit: inContainer(func(c *corev1.Container) {
			c.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8080}}
		}), node: ofImages, warned: []string{"spec.hostNetwork"}},
		"nor is it the same": {edit: inContainer(func(c *corev1.Container) {
			c.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
		}), node: registrytest.Able, warned: []string{"spec.hostNetwork"}},
		"unless the machine's network is wanted": {edit: inSpec(func(s *corev1.PodSpec) {
			s.HostNetwork, s.Containers[0].Ports = true, []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
		}), node: registrytest.Able},
		"the program chooses where it listens": {edit: inContainer(func(c *corev1.Container) {
			c.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostIP: "127.0.0.1"}}
		}), node: ofImages, warned: []string{c0 + "ports"}},

		"a host name is kept where it can be":    {edit: inSpec(func(s *corev1.PodSpec) { s.Hostname = "pi-0" }), node: registrytest.Able},
		"a host name is ignored where it cannot": {edit: inSpec(func(s *corev1.PodSpec) { s.Hostname = "pi-0" }), node: unable, warned: []string{"spec.hostname"}},
		"a subdomain is known to others":         {edit: inSpec(func(s *corev1.PodSpec) { s.Subdomain = "svc" }), node: with(registrytest.Able, giveNetworks)},
		"unless pods have no networks":           {edit: inSpec(func(s *corev1.PodSpec) { s.Subdomain = "svc" }), node: registrytest.Able, warned: []string{"spec.subdomain"}},
		"nothing leads from there to Services":   {edit: inSpec(setClusterDNSWithHostNet), node: with(registrytest.Able, giveNetworks), warned: []string{"spec.dnsPolicy"}},
		"name servers are the machine's":         {edit: inSpec(setDNS), node: with(registrytest.Able, giveNetworks), warned: []string{"spec.dnsPolicy", "spec.dnsConfig"}},
		"name servers are the pod's":             {edit: inSpec(func(s *corev1.PodSpec) { setDNS(s); s.Subdomain = "svc" }), node: with(registrytest.Able, giveNetworks)},
		"the machine's process ids are refused":  {edit: inSpec(func(s *corev1.PodSpec) { s.HostPID = true }), node: registrytest.Able, refused: []string{"spec.hostPID"}},
		"shared process ids are refused":         {edit: inSpec(func(s *corev1.PodSpec) { s.ShareProcessNamespace = ptr.To(true) }), node: registrytest.Able, refused: []string{"spec.shareProcessNamespace"}},
		"windows is refused":                     {edit: inSpec(func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: "windows"} }), node: registrytest.Able, refused: []string{"spec.os.name"}},
		"linux is what there is":                 {edit: inSpec(func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: "linux"} }), node: registrytest.Able},
		"resource claims are refused":            {edit: inSpec(func(s *corev1.PodSpec) { s.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} }), node: registrytest.Able, refused: []string{"spec.resourceClaims"}},
		"a terminal is refused by an old host":   {edit: inContainer(func(c *corev1.Container) { c.TTY, c.Stdin = true, true }), node: unable, refused: []string{c0 + "stdin", c0 + "tty"}},
		"a terminal passes":                      {edit: inContainer(func(c *corev1.Container) { c.TTY, c.Stdin = true, true }), node: registrytest.Able},
		"probes are run": {edit: inContainer(func(c *corev1.Container) {
			c.LivenessProbe, c.ReadinessProbe, c.StartupProbe = tcpProbe(80), commandProbe(), commandProbe()
		}), node: registrytest.Able},
		"hooks are run":                    {edit: inContainer(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{PostStart: runs, PreStop: runs} }), node: registrytest.Able},
		"a stop signal is sent":            {edit: inContainer(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{StopSignal: ptr.To(corev1.SIGINT)} }), node: registrytest.Able},
		"an empty life cycle does no harm": {edit: inContainer(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{} }), node: registrytest.Able},
		"an old host runs no commands": {edit: inContainer(func(c *corev1.Container) {
			c.StartupProbe, c.Lifecycle = commandProbe(), &corev1.Lifecycle{PostStart: runs, PreStop: runs}
		}), node: with(registrytest.Able, func(i *runtime.Info) { i.CanExec = false }), refused: []string{c0 + "startupProbe.exec", c0 + "lifecycle.postStart.exec", c0 + "lifecycle.preStop.exec"}},
		"no hook uses TCP": {edit: inContainer(func(c *corev1.Container) {
			c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{TCPSocket: &corev1.TCPSocketAction{}}}
		}), node: registrytest.Able, refused: []string{c0 + "lifecycle.preStop.tcpSocket"}},
		"a variable comes from a file":        {edit: fromFile(""), node: registrytest.Able},
		"but not from one in memory":          {edit: fromFile(corev1.StorageMediumMemory), node: registrytest.Able, refused: []string{c0 + "env[0].valueFrom.fileKeyRef"}},
		"names of the machine's own kind":     {edit: inSpec(nameIt), node: registrytest.Able},
		"are ignored where there can be none": {edit: inSpec(nameIt), node: unable, warned: []string{"spec.hostnameOverride", "spec.setHostnameAsFQDN"}},
		"a folder on disk is limited":         {edit: withVolume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(amount("1Gi"))}}), node: registrytest.Able},
		"unless nothing measures it":          {edit: withVolume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(amount("1Gi"))}}), node: with(registrytest.Able, dontMeasure), warned: []string{"spec.volumes[0].emptyDir.sizeLimit"}},
		"a folder in memory is limited":       {edit: withVolume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: "Memory", SizeLimit: ptr.To(amount("1Gi"))}}), node: registrytest.Able},
		"a limit is held where it can be":     {edit: limited("memory", "64Mi"), node: registrytest.Able},
		"a limit that is not held is told":    {edit: limited("memory", "64Mi"), node: unable, warned: []string{c0 + "resources.limits[memory]"}},
		"no program fits into a tiny limit":   {edit: limited("memory", "500m"), node: registrytest.Able, warned: []string{c0 + "resources.limits[memory]"}},
		"some fit into a small one":           {edit: limited("memory", "128Ki"), node: registrytest.Able},
		"a device is refused":                 {edit: limited("nvidia.com/gpu", "1"), node: registrytest.Able, refused: []string{c0 + "resources.requests[nvidia.com/gpu]"}},
		"a process's files are the machine's": {edit: limited("ephemeral-storage", "1Gi"), node: registrytest.Able, warned: []string{c0 + "resources.limits[ephemeral-storage]"}},
		"disk space that nothing measures":    {edit: limited("ephemeral-storage", "1Gi"), node: with(registrytest.Able, dontMeasure), warned: []string{c0 + "resources.limits[ephemeral-storage]"}},
		"disk space of images is limited":     {edit: limited("ephemeral-storage", "1Gi"), node: with(ofImages, measure)},
		"unless nothing measures that":        {edit: limited("ephemeral-storage", "1Gi"), node: ofImages, warned: []string{c0 + "resources.limits[ephemeral-storage]"}},
		"all containers can restart together": {edit: inContainer(func(c *corev1.Container) {
			c.RestartPolicyRules = []corev1.ContainerRestartRule{{Action: "RestartAllContainers"}}
		}), node: registrytest.Able},
		"a message elsewhere needs a mount": {edit: inContainer(func(c *corev1.Container) { c.TerminationMessagePath = "/tmp/last" }), node: unable, warned: []string{c0 + "terminationMessagePath"}},
		"an empty folder is made":           {edit: withVolume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: "Memory"}}), node: registrytest.Able},
		"no volume without mounts":          {edit: withVolume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}), node: unable, refused: []string{c0 + "volumeMounts[0].mountPath"}},
		"a claim of a persistent volume":    {edit: withVolume(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "x"}}), node: registrytest.Able},
		"a network volume":                  {edit: withVolume(corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: "s", Path: "/p"}}), node: registrytest.Able, refused: []string{"spec.volumes[0].nfs"}},
		"a claim of its own":                {edit: withEphemeral(corev1.PersistentVolumeClaimSpec{}), node: registrytest.Able},
		"a block device of its own":         {edit: withEphemeral(corev1.PersistentVolumeClaimSpec{VolumeMode: ptr.To(corev1.PersistentVolumeBlock)}), node: registrytest.Able, refused: []string{"spec.volumes[0].ephemeral.volumeClaimTemplate.spec.volumeMode"}},
		"a claim of its own that is filled": {edit: withEphemeral(corev1.PersistentVolumeClaimSpec{DataSource: &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: "other"}}), node: registrytest.Able, refused: []string{"spec.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSource"}},
		"a network file system":             {edit: withVolume(corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{}}), node: registrytest.Able, refused: []string{"spec.volumes[0].nfs"}},
		"huge pages as a folder":            {edit: withVolume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: "HugePages"}}), node: registrytest.Able, refused: []string{"spec.volumes[0].emptyDir.medium"}},
		"a host path that starts nowhere":   {edit: withVolume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "srv"}}), node: registrytest.Able, refused: []string{"spec.volumes[0].hostPath.path"}},
		"a token among files":               {edit: withProjection(corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "t"}}), node: registrytest.Able, refused: []string{"spec.volumes[0].projected.sources[0].serviceAccountToken"}},
		"a file with an owner":              {edit: withVolume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", Items: []corev1.KeyToPath{{Key: "k", Path: "p", User: ptr.To[int64](7)}}}}), node: registrytest.Able, refused: []string{"spec.volumes[0].secret.items[0].user"}},
		"a part of a folder in memory":      {edit: both(withVolume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: "Memory"}}), inMount(func(m *corev1.VolumeMount) { m.SubPath = "a" })), node: registrytest.Able},
		"mounts that come and go":           {edit: both(withVolume(corev1.VolumeSource{}), inMount(func(m *corev1.VolumeMount) { m.MountPropagation = ptr.To(corev1.MountPropagationHostToContainer) })), node: registrytest.Able},
		"mounts that come to the machine":   {edit: both(withVolume(corev1.VolumeSource{}), inMount(func(m *corev1.VolumeMount) { m.MountPropagation = ptr.To(corev1.MountPropagationBidirectional) })), node: registrytest.Able, refused: []string{c0 + "volumeMounts[0].mountPropagation"}},
		"read-only mounts all the way down": {edit: both(withVolume(corev1.VolumeSource{}), inMount(func(m *corev1.VolumeMount) {
			m.ReadOnly, m.RecursiveReadOnly = true, ptr.To(corev1.RecursiveReadOnlyEnabled)
		})), node: registrytest.Able},
		"read-only mounts where only one is": {edit: both(withVolume(corev1.VolumeSource{}), inMount(func(m *corev1.VolumeMount) {
			m.ReadOnly, m.RecursiveReadOnly = true, ptr.To(corev1.RecursiveReadOnlyEnabled)
		})), node: runtime.Info{Name: "process", CanMount: true}, refused: []string{c0 + "volumeMounts[0].recursiveReadOnly"}},
		"another user where it can be":             {edit: inSecurity(func(s *corev1.SecurityContext) { s.RunAsUser = ptr.To[int64](54321) }), node: registrytest.Able},
		"another user where it cannot":             {edit: inSecurity(func(s *corev1.SecurityContext) { s.RunAsUser = ptr.To[int64](54321) }), node: unable, refused: []string{c0 + "securityContext.runAsUser"}},
		"one's own user everywhere":                {edit: inSecurity(func(s *corev1.SecurityContext) { s.RunAsUser = ptr.To(int64(os.Getuid())) }), node: unable},
		"a group for files where it cannot":        {edit: inSpec(func(s *corev1.PodSpec) { s.SecurityContext = &corev1.PodSecurityContext{FSGroup: ptr.To[int64](54321)} }), node: unable, refused: []string{"spec.securityContext.fsGroup"}},
		"anyone but root under a root server":      {edit: inSecurity(func(s *corev1.SecurityContext) { s.RunAsNonRoot = ptr.To(true) }), node: registrytest.Able, refused: []string{c0 + "securityContext.runAsNonRoot"}},
		"anyone but root, and who":                 {edit: inSecurity(func(s *corev1.SecurityContext) { s.RunAsNonRoot, s.RunAsUser = ptr.To(true), ptr.To[int64](7) }), node: registrytest.Able},
		"anyone but root is who starts the server": {edit: inSecurity(func(s *corev1.SecurityContext) { s.RunAsNonRoot = ptr.To(true) }), node: unable},
		"privileges are refused":                   {edit: inSecurity(func(s *corev1.SecurityContext) { s.Privileged = ptr.To(true) }), node: registrytest.Able, refused: []string{c0 + "securityContext.privileged"}},
		"capabilities are refused": {edit: inSecurity(func(s *corev1.SecurityContext) {
			s.Capabilities = &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN"}}
		}), node: registrytest.Able, refused: []string{c0 + "securityContext.capabilities.add"}},
		"a root server's processes keep theirs": {edit: inSecurity(func(s *corev1.SecurityContext) {
			s.Capabilities = &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}
		}), node: registrytest.Able, warned: []string{c0 + "securityContext.capabilities.drop"}},
		"others have none to drop": {edit: inSecurity(func(s *corev1.SecurityContext) {
			s.Capabilities = &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}
		}), node: unable},
		"the machine's files stay writable":    {edit: inSecurity(func(s *corev1.SecurityContext) { s.ReadOnlyRootFilesystem = ptr.To(true) }), node: registrytest.Able, warned: []string{c0 + "securityContext.readOnlyRootFilesystem"}},
		"no new privileges are kept":           {edit: inSecurity(func(s *corev1.SecurityContext) { s.AllowPrivilegeEscalation = ptr.To(false) }), node: registrytest.Able},
		"a usual seccomp profile is ignored":   {edit: inSecurity(func(s *corev1.SecurityContext) { s.SeccompProfile = &corev1.SeccompProfile{Type: "RuntimeDefault"} }), node: registrytest.Able, warned: []string{c0 + "securityContext.seccompProfile"}},
		"one's own seccomp profile is refused": {edit: inSecurity(func(s *corev1.SecurityContext) { s.SeccompProfile = &corev1.SeccompProfile{Type: "Localhost"} }), node: registrytest.Able, refused: []string{c0 + "securityContext.seccompProfile"}},
	} {
		t.Run(sentence, func(t *testing.T) { checkHonour(t, c) })
	}
}

// Nodes that run images: with an old host process that supports nothing else, as a normal user, and as root.
var (
	imagesOnly     = runtime.Info{Name: runtime.ClassOCI, CanRunImages: true, CanMount: true, CanSetUser: true, CanSetHostname: true}
	ofImages       = with(imagesOnly, func(i *runtime.Info) { i.CanRunPrivileged, i.CanSharePIDs, i.CanSetSysctls = true, true, true })
	ofImagesAsRoot = with(ofImages, func(i *runtime.Info) { i.CanShareNamespaces = true })
)

func measure(i *runtime.Info)     { i.CanMeasure = true }
func dontMeasure(i *runtime.Info) { i.CanMeasure = false }

func giveNetworks(i *runtime.Info) { i.PodRange = netip.MustParsePrefix("10.244.0.0/16") }

func setDNS(s *corev1.PodSpec) {
	s.DNSPolicy, s.DNSConfig = corev1.DNSNone, &corev1.PodDNSConfig{Nameservers: []string{"192.0.2.53"}}
}

func setClusterDNSWithHostNet(s *corev1.PodSpec) {
	s.HostNetwork, s.DNSPolicy = true, corev1.DNSClusterFirstWithHostNet
}

func with(i runtime.Info, change func(*runtime.Info)) runtime.Info {
	change(&i)
	return i
}

func addAlias(s *corev1.PodSpec) {
	s.HostAliases = []corev1.HostAlias{{IP: "127.0.0.1", Hostnames: []string{"db"}}}
}
func shareNamespaces(s *corev1.PodSpec) { s.HostPID, s.HostIPC = true, true }
func sharePIDs(s *corev1.PodSpec)       { s.ShareProcessNamespace = ptr.To(true) }
func setSysctl(name string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.SecurityContext = &corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{Name: name, Value: "1"}}}
	}
}
func ownUsers(s *corev1.PodSpec)             { s.HostUsers = ptr.To(false) }
func bePrivileged(s *corev1.SecurityContext) { s.Privileged = ptr.To(true) }

func both(a, b podEdit) podEdit { return func(pod *corev1.Pod) { a(pod); b(pod) } }

func limited(name corev1.ResourceName, amount string) podEdit {
	return inContainer(func(c *corev1.Container) {
		c.Resources.Limits = corev1.ResourceList{name: resource.MustParse(amount)}
	})
}

// A template with limits has no requests: they are set in its pods.
func TestDeviceInTemplateIsRefused(t *testing.T) {
	pod := registrytest.Pod(limited("nvidia.com/gpu", "1"))
	errs := refuseUnsupported(&pod.Spec, &registrytest.Able, field.NewPath("spec"))
	if len(errs) != 1 || errs[0].Field != "spec.containers[0].resources.limits[nvidia.com/gpu]" {
		t.Errorf("refused %v, want the limit", errs)
	}
}

func withEphemeral(s corev1.PersistentVolumeClaimSpec) podEdit {
	template := &corev1.PersistentVolumeClaimTemplate{Spec: s}
	return withVolume(corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: template}})
}

func withProjection(sources ...corev1.VolumeProjection) podEdit {
	return withVolume(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: sources}})
}

// fromFile has a variable come from a file of an emptyDir.
func fromFile(medium corev1.StorageMedium) func(*corev1.Pod) {
	return inSpec(func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "shared", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: medium}}}}
		s.Containers[0].Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{VolumeName: "shared"}}}}
	})
}

func nameIt(s *corev1.PodSpec) {
	s.Subdomain, s.SetHostnameAsFQDN, s.HostnameOverride = "sub", ptr.To(true), ptr.To("a")
}

// runs is a hook that runs a command.
var runs = &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}

func commandProbe() *corev1.Probe {
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}}
}

func tcpProbe(port int32) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)}}}
}

func checkHonour(t *testing.T, c honourCase) {
	pod := createdPod(c.edit)
	var refused, warned []string
	for _, err := range refuseUnsupported(&pod.Spec, &c.node, field.NewPath("spec")) {
		if err.Detail == "" || err.Type != field.ErrorTypeForbidden {
			t.Errorf("%v: want a forbidden field and a reason", err)
		}
		refused = append(refused, err.Field)
	}
	for _, w := range warnIgnored(&pod.Spec, &c.node, field.NewPath("spec")) {
		name, _, _ := strings.Cut(w, ": ")
		warned = append(warned, name)
	}
	if diff := cmp.Diff(c.refused, refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(c.warned, warned); diff != "" {
		t.Errorf("warned (-want +got):\n%s", diff)
	}
	if got := append(refuseUnsupported(&pod.Spec, nil, field.NewPath("spec")), warnedAsErrors(pod)...); len(got) > 0 {
		t.Errorf("without a node: %v", got)
	}
}

func warnedAsErrors(pod *corev1.Pod) field.ErrorList {
	var errs field.ErrorList
	for _, w := range warnIgnored(&pod.Spec, nil, nil) {
		errs = append(errs, field.InternalError(nil, errorString(w)))
	}
	return errs
}

type errorString string

func (e errorString) Error() string { return string(e) }

func TestTemplateWithoutCommandNamesTheRemedy(t *testing.T) {
	template := &corev1.PodTemplateSpec{Spec: createdPod(inContainer(func(c *corev1.Container) { c.Command = nil })).Spec}
	errs := ValidateTemplate(template, on(registrytest.Able), field.NewPath("spec", "template"))
	want := "spec.template.spec.containers[0].command: Forbidden: is needed on the process runtime: the image's entrypoint is not known because images are not pulled; set command to a program of this machine"
	if len(errs) != 1 || errs[0].Error() != want {
		t.Errorf("got %v, want %s", errs, want)
	}
}

// kept are the fields that the process runtime or the API server fully supports.
var kept = map[string][]string{
	"PodSpec": {
		"volumes", "initContainers", "containers", "ephemeralContainers", "restartPolicy", "terminationGracePeriodSeconds",
		"activeDeadlineSeconds", "serviceAccount", "nodeName", "hostNetwork", "securityContext", "enableServiceLinks",
		"preemptionPolicy", "os", "readinessGates", "schedulingGates", "tolerations", "resources", "runtimeClassName",
	},
	"Container": {
		"name", "image", "args", "workingDir", "envFrom", "env", "resources", "restartPolicy", "restartPolicyRules",
		"volumeMounts", "terminationMessagePolicy", "securityContext",
		"stdinOnce", // the rule of stdin covers it
	},
	"SecurityContext":    {"capabilities", "allowPrivilegeEscalation"},
	"PodSecurityContext": {"runAsNonRoot", "supplementalGroupsPolicy", "fsGroupChangePolicy"},
	"VolumeMount":        {"name", "readOnly", "mountPath", "subPath", "subPathExpr"},
}

// This test fails for each field that a new Kubernetes release adds to these types, until it has a rule or is in kept.
func TestEveryFieldOfAPodIsDecidedOn(t *testing.T) {
	for _, c := range []struct {
		of    any
		rules []string
	}{
		{corev1.PodSpec{}, ruleFields(podRules)},
		{corev1.Container{}, ruleFields(containerRules)},
		{corev1.SecurityContext{}, ruleFields(securityRules)},
		{corev1.PodSecurityContext{}, below(ruleFields(podRules), "securityContext.")},
		{corev1.VolumeMount{}, ruleFields(mountRules)},
	} {
		kind := reflect.TypeOf(c.of)
		for i := range kind.NumField() {
			name, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
			ruled := slices.ContainsFunc(c.rules, func(rule string) bool { return rule == name || strings.HasPrefix(rule, name+".") })
			if !ruled && !slices.Contains(kept[kind.Name()], name) {
				t.Errorf("%s.%s is neither kept, nor refused, nor warned about", kind.Name(), name)
			}
		}
	}
}

func ruleFields[T any](rules []rule[T]) []string {
	var names []string
	for _, r := range rules {
		names = append(names, r.field)
	}
	return names
}

func below(names []string, prefix string) []string {
	var rest []string
	for _, name := range names {
		if after, ok := strings.CutPrefix(name, prefix); ok {
			rest = append(rest, after)
		}
	}
	return rest
}

func TestPodWarningsReachTheAuthor(t *testing.T) {
	r := Resource(on(registrytest.Able))
	pod := createdPod(inSpec(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"disk": "ssd"} }))
	want := []string{"spec.nodeSelector: has no effect: there is one node and every pod runs on it"}
	if diff := cmp.Diff(want, r.WarningsOnCreate(context.Background(), pod)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// If no image can run, the server refuses a Job whose pods would run from images, not only its pods.
func TestImagesAreRefusedWhereNoneCanRun(t *testing.T) {
	cannot := runtime.Info{Name: runtime.ClassProcess, CanMount: true, WhyNoImages: "the reason"}
	for sentence, c := range map[string]struct {
		class   *string
		server  string
		node    runtime.Info
		refused bool
	}{
		"by the pod's choice":            {ptr.To(runtime.ClassOCI), "", cannot, true},
		"by the server's choice":         {nil, runtime.ClassOCI, cannot, true},
		"not where the pod is a process": {ptr.To(runtime.ClassProcess), runtime.ClassOCI, cannot, false},
		"not where images run":           {ptr.To(runtime.ClassOCI), "", runtime.Info{CanRunImages: true}, false},
		"not where nothing asks for it":  {nil, "", cannot, false},
		"by the handler of its class":    {ptr.To("mine"), "", cannot, true},
		"another class may come later":   {ptr.To("gvisor"), runtime.ClassOCI, cannot, false},
	} {
		spec := &corev1.PodSpec{RuntimeClassName: c.class, SchedulerName: corev1.DefaultSchedulerName}
		o := Options{Node: func() runtime.Info { return c.node }, RuntimeClass: c.server, Handler: func(class string) (string, bool) {
			return runtime.ClassOCI, class == "mine"
		}}
		errs := refuseUnsupported(spec, o.nodeForTemplate(spec), field.NewPath("spec"))
		if refused := len(errs) == 1 && errs[0].Field == "spec.runtimeClassName"; refused != c.refused || !refused && len(errs) > 0 {
			t.Errorf("%s: %v", sentence, errs)
		}
	}
}
