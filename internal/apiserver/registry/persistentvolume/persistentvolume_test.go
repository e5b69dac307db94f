package persistentvolume

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
	noderuntime "github.com/stint-dev/stint/internal/node/runtime"
	core "github.com/stint-dev/stint/internal/persistentvolume"
)

var withNode = pod.Options{Node: func() noderuntime.Info { return noderuntime.Info{} }}

func size(s string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(s)}
}

// aVolume returns a hostPath volume, changed by change unless that is nil.
func aVolume(change func(*corev1.PersistentVolumeSpec)) *corev1.PersistentVolume {
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v"}, Spec: corev1.PersistentVolumeSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Capacity: size("1Gi"),
		PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}},
	}}
	if change != nil {
		change(&pv.Spec)
	}
	return pv
}

// of replaces the kind of volume.
func of(source corev1.PersistentVolumeSource) func(*corev1.PersistentVolumeSpec) {
	return func(s *corev1.PersistentVolumeSpec) { s.PersistentVolumeSource = source }
}

func aClaim(change func(*corev1.PersistentVolumeClaimSpec)) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: size("1Gi")},
	}}
	if change != nil {
		change(&c.Spec)
	}
	return c
}

func aClass(change func(*storagev1.StorageClass)) *storagev1.StorageClass {
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, Provisioner: "example.com/disks"}
	if change != nil {
		change(c)
	}
	return c
}

var (
	local     = corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/disk"}}
	nfs       = corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "s", Path: "/p"}}
	anyNode   = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpExists}}}}}}
	blockMode = ptr.To(corev1.PersistentVolumeBlock)
)

// onMachines returns a volume on the machines that have the label.
func onMachines(label string) *corev1.PersistentVolume {
	return aVolume(func(s *corev1.PersistentVolumeSpec) {
		s.NodeAffinity = anyNode.DeepCopy()
		s.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Key = label
	})
}

var aSecret = &corev1.SecretReference{Namespace: "a", Name: "b"}

func ofDriver(change func(*corev1.CSIPersistentVolumeSource)) *corev1.PersistentVolume {
	csi := &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "h"}
	if change != nil {
		change(csi)
	}
	return aVolume(of(corev1.PersistentVolumeSource{CSI: csi}))
}

// oldClass returns a claim that names its class by annotation, as claims did before they had the field.
func oldClass(name string, field *string) *corev1.PersistentVolumeClaim {
	c := aClaim(func(s *corev1.PersistentVolumeClaimSpec) { s.StorageClassName = field })
	c.Annotations = map[string]string{corev1.BetaStorageClassAnnotation: name}
	return c
}

func TestWhatIsCreated(t *testing.T) {
	for sentence, c := range map[string]struct {
		kind kinds.Resource
		obj  runtime.Object
		want []string
	}{
		"a volume of a path":            {Volume(withNode), aVolume(nil), nil},
		"a volume needs a size":         {Volume(withNode), aVolume(func(s *corev1.PersistentVolumeSpec) { s.Capacity = nil }), []string{"spec.capacity Required"}},
		"a size is more than nothing":   {Volume(withNode), aVolume(func(s *corev1.PersistentVolumeSpec) { s.Capacity = size("0") }), []string{"spec.capacity[storage] Invalid"}},
		"a volume has storage only":     {Volume(withNode), aVolume(func(s *corev1.PersistentVolumeSpec) { s.Capacity[corev1.ResourceCPU] = resource.MustParse("1") }), []string{"spec.capacity NotSupported"}},
		"a volume needs an access mode": {Volume(withNode), aVolume(func(s *corev1.PersistentVolumeSpec) { s.AccessModes = nil }), []string{"spec.accessModes Required"}},
		"a policy is a known one":       {Volume(withNode), aVolume(func(s *corev1.PersistentVolumeSpec) { s.PersistentVolumeReclaimPolicy = "Keep" }), []string{"spec.persistentVolumeReclaimPolicy NotSupported"}},
		"a volume is of a kind":         {Volume(withNode), aVolume(of(corev1.PersistentVolumeSource{})), []string{"spec Required"}},
		"a volume is of one kind":       {Volume(pod.Options{}), aVolume(func(s *corev1.PersistentVolumeSpec) { s.NFS = nfs.NFS }), []string{"spec.nfs Forbidden"}},
		"a local volume is on a node":   {Volume(withNode), aVolume(of(local)), []string{"spec.nodeAffinity Required"}},
		"a local volume of a node":      {Volume(withNode), aVolume(func(s *corev1.PersistentVolumeSpec) { of(local)(s); s.NodeAffinity = anyNode }), nil},
		"a local volume is one kind":    {Volume(withNode), aVolume(func(s *corev1.PersistentVolumeSpec) { s.Local, s.NodeAffinity = local.Local, anyNode }), []string{"spec.local Forbidden"}},
		"a local path goes down": {Volume(withNode), aVolume(func(s *corev1.PersistentVolumeSpec) {
			of(corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/a/../b"}})(s)
			s.NodeAffinity = anyNode
		}), []string{"spec.local.path Invalid"}},
		"an affinity requires something":  {Volume(withNode), aVolume(func(s *corev1.PersistentVolumeSpec) { s.NodeAffinity = &corev1.VolumeNodeAffinity{} }), []string{"spec.nodeAffinity.required Required"}},
		"a network volume elsewhere":      {Volume(pod.Options{}), aVolume(of(nfs)), nil},
		"a network volume needs a server": {Volume(pod.Options{}), aVolume(of(corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Path: "/p"}})), []string{"spec.nfs.server Required"}},
		"a network volume on the node":    {Volume(withNode), aVolume(of(nfs)), []string{"spec.nfs Forbidden"}},
		"a driver's volume has a handle":  {Volume(pod.Options{}), aVolume(of(corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d"}})), []string{"spec.csi.volumeHandle Required"}},
		"a block device on the node":      {Volume(withNode), aVolume(func(s *corev1.PersistentVolumeSpec) { s.VolumeMode = blockMode }), []string{"spec.volumeMode Forbidden"}},
		"a block device elsewhere":        {Volume(pod.Options{}), aVolume(func(s *corev1.PersistentVolumeSpec) { s.VolumeMode = blockMode }), nil},
		"a volume to be recycled":         {Volume(withNode), aVolume(func(s *corev1.PersistentVolumeSpec) { s.PersistentVolumeReclaimPolicy = "Recycle" }), []string{"spec.persistentVolumeReclaimPolicy Forbidden"}},
		"the machine's root to be recycled": {Volume(pod.Options{}), aVolume(func(s *corev1.PersistentVolumeSpec) {
			s.HostPath.Path, s.PersistentVolumeReclaimPolicy = "/", "Recycle"
		}), []string{"spec.persistentVolumeReclaimPolicy Forbidden"}},
		"options of a mount":   {Volume(withNode), aVolume(func(s *corev1.PersistentVolumeSpec) { s.MountOptions = []string{"ro"} }), []string{"spec.mountOptions Forbidden"}},
		"a claim":              {Claim(withNode), aClaim(nil), nil},
		"a claim needs a size": {Claim(withNode), aClaim(func(s *corev1.PersistentVolumeClaimSpec) { s.Resources.Requests = nil }), []string{"spec.resources.requests[storage] Required"}},
		"a claim for one pod only": {Claim(withNode), aClaim(func(s *corev1.PersistentVolumeClaimSpec) {
			s.AccessModes = append(s.AccessModes, corev1.ReadWriteOncePod)
		}), []string{"spec.accessModes Forbidden"}},
		"a claim of a block device": {Claim(withNode), aClaim(func(s *corev1.PersistentVolumeClaimSpec) { s.VolumeMode = blockMode }), []string{"spec.volumeMode Forbidden"}},
		"a claim to be filled": {Claim(withNode), aClaim(func(s *corev1.PersistentVolumeClaimSpec) {
			s.DataSource = &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: "other"}
		}), []string{"spec.dataSource Forbidden"}},
		"a claim to be filled elsewhere": {Claim(pod.Options{}), aClaim(func(s *corev1.PersistentVolumeClaimSpec) {
			s.DataSource = &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: "other"}
		}), nil},
		"a class":                              {Class(withNode), aClass(nil), nil},
		"a class needs a provisioner":          {Class(withNode), aClass(func(c *storagev1.StorageClass) { c.Provisioner = "" }), []string{"provisioner Required"}},
		"a provisioner has a qualified name":   {Class(withNode), aClass(func(c *storagev1.StorageClass) { c.Provisioner = "a b" }), []string{"provisioner Invalid"}},
		"volumes of a class are not recycled":  {Class(withNode), aClass(func(c *storagev1.StorageClass) { c.ReclaimPolicy = ptr.To(corev1.PersistentVolumeReclaimRecycle) }), []string{"reclaimPolicy NotSupported"}},
		"a class binds at one of two times":    {Class(withNode), aClass(func(c *storagev1.StorageClass) { c.VolumeBindingMode = ptr.To(storagev1.VolumeBindingMode("Late")) }), []string{"volumeBindingMode NotSupported"}},
		"a parameter has a name":               {Class(withNode), aClass(func(c *storagev1.StorageClass) { c.Parameters = map[string]string{"": "x"} }), []string{"parameters Invalid"}},
		"parameters are of a quarter megabyte": {Class(withNode), aClass(func(c *storagev1.StorageClass) { c.Parameters = map[string]string{"a": strings.Repeat("x", 256<<10)} }), []string{"parameters TooLong"}},
		"a topology has values": {Class(withNode), aClass(func(c *storagev1.StorageClass) {
			c.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: "zone"}}}}
		}), []string{"allowedTopologies[0].matchLabelExpressions[0].values Required"}},
		"the class that exists always": {Class(withNode), LocalClass(), nil},
		"a driver's secret has a name": {Volume(pod.Options{}), ofDriver(func(v *corev1.CSIPersistentVolumeSource) {
			v.NodeExpandSecretRef = &corev1.SecretReference{Namespace: "a"}
		}), []string{"spec.csi.nodeExpandSecretRef.name Required"}},
		"a disk's secret has a namespace": {Volume(pod.Options{}), aVolume(of(corev1.PersistentVolumeSource{Cinder: &corev1.CinderPersistentVolumeSource{VolumeID: "a", SecretRef: &corev1.SecretReference{Name: "b"}}})), []string{"spec.cinder.secretRef.namespace Required"}},
		"a topology is there once": {Class(withNode), aClass(func(c *storagev1.StorageClass) {
			zone := corev1.TopologySelectorTerm{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: "zone", Values: []string{"a"}}}}
			c.AllowedTopologies = []corev1.TopologySelectorTerm{zone, zone}
		}), []string{"allowedTopologies[1].matchLabelExpressions Duplicate"}},
		"a claim that takes data from two sides": {Claim(pod.Options{}), aClaim(func(s *corev1.PersistentVolumeClaimSpec) {
			s.DataSource = &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: "other"}
			s.DataSourceRef = &corev1.TypedObjectReference{Kind: "PersistentVolumeClaim", Name: "third"}
		}), []string{"spec Invalid"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			registrytest.WantErrors(t, c.kind.Validate(context.Background(), registrytest.Posted(c.kind, c.obj)), c.want...)
		})
	}
}

func TestWhatIsUpdated(t *testing.T) {
	bound := func(requests string) *corev1.PersistentVolumeClaim {
		c := aClaim(func(s *corev1.PersistentVolumeClaimSpec) { s.Resources.Requests, s.VolumeName = size(requests), "v" })
		c.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: size("1Gi")}
		return c
	}
	for sentence, c := range map[string]struct {
		kind     kinds.Resource
		old, obj runtime.Object
		want     []string
	}{
		"a volume gets a claim":           {Volume(withNode), aVolume(nil), aVolume(func(s *corev1.PersistentVolumeSpec) { s.ClaimRef = &corev1.ObjectReference{Name: "c", Namespace: "d"} }), nil},
		"a volume is kept from now on":    {Volume(withNode), aVolume(func(s *corev1.PersistentVolumeSpec) { s.PersistentVolumeReclaimPolicy = "Delete" }), aVolume(nil), nil},
		"a volume stays where it is":      {Volume(withNode), aVolume(nil), aVolume(func(s *corev1.PersistentVolumeSpec) { s.HostPath.Path = "/other" }), []string{"spec.persistentvolumesource Forbidden"}},
		"a volume keeps its mode":         {Volume(pod.Options{}), aVolume(nil), aVolume(func(s *corev1.PersistentVolumeSpec) { s.VolumeMode = blockMode }), []string{"spec.volumeMode Invalid"}},
		"a volume keeps its nodes":        {Volume(withNode), aVolume(func(s *corev1.PersistentVolumeSpec) { s.NodeAffinity = anyNode }), aVolume(nil), []string{"spec.nodeAffinity Invalid"}},
		"what was refused later is kept":  {Volume(withNode), aVolume(of(nfs)), aVolume(of(nfs)), nil},
		"a claim is bound":                {Claim(withNode), aClaim(nil), aClaim(func(s *corev1.PersistentVolumeClaimSpec) { s.VolumeName = "v" }), nil},
		"a claim gets a class":            {Claim(withNode), aClaim(nil), aClaim(func(s *corev1.PersistentVolumeClaimSpec) { s.StorageClassName = ptr.To("local") }), nil},
		"a claim keeps its class":         {Claim(withNode), aClaim(func(s *corev1.PersistentVolumeClaimSpec) { s.StorageClassName = ptr.To("a") }), aClaim(func(s *corev1.PersistentVolumeClaimSpec) { s.StorageClassName = ptr.To("b") }), []string{"spec Forbidden"}},
		"a claim keeps its access modes":  {Claim(withNode), aClaim(nil), aClaim(func(s *corev1.PersistentVolumeClaimSpec) { s.AccessModes[0] = corev1.ReadWriteMany }), []string{"spec Forbidden"}},
		"an unbound claim keeps its size": {Claim(withNode), aClaim(nil), aClaim(func(s *corev1.PersistentVolumeClaimSpec) { s.Resources.Requests = size("2Gi") }), []string{"spec Forbidden"}},
		"a class may let a claim grow":    {Claim(withNode), bound("1Gi"), bound("2Gi"), nil},
		"a bound claim does not shrink":   {Claim(withNode), bound("2Gi"), bound("1Gi"), []string{"spec.resources.requests.storage Forbidden"}},
		"down to what it has not got":     {Claim(withNode), bound("3Gi"), bound("2Gi"), nil},
		"a claim is labelled":             {Claim(withNode), bound("1Gi"), bound("1Gi"), nil},
		"a class is no longer a default":  {Class(withNode), LocalClass(), func() runtime.Object { c := LocalClass(); c.Annotations = nil; return c }(), nil},
		"a class keeps its provisioner":   {Class(withNode), aClass(nil), aClass(func(c *storagev1.StorageClass) { c.Provisioner = "example.com/other" }), []string{"provisioner Invalid"}},
		"a class keeps its policy":        {Class(withNode), aClass(nil), aClass(func(c *storagev1.StorageClass) { c.ReclaimPolicy = ptr.To(corev1.PersistentVolumeReclaimRetain) }), []string{"reclaimPolicy Invalid"}},
		"a class keeps its parameters":    {Class(withNode), aClass(nil), aClass(func(c *storagev1.StorageClass) { c.Parameters = map[string]string{"a": "b"} }), []string{"parameters Invalid"}},
		"a volume's new labels":           {Volume(withNode), onMachines("beta.kubernetes.io/os"), onMachines("kubernetes.io/os"), nil},
		"a volume's other labels":         {Volume(withNode), onMachines("beta.kubernetes.io/os"), onMachines("kubernetes.io/arch"), []string{"spec.nodeAffinity Invalid"}},
		"a driver gets a secret to grow":  {Volume(pod.Options{}), ofDriver(nil), ofDriver(func(v *corev1.CSIPersistentVolumeSource) { v.ControllerExpandSecretRef = aSecret }), nil},
		"a driver gets another secret":    {Volume(pod.Options{}), ofDriver(nil), ofDriver(func(v *corev1.CSIPersistentVolumeSource) { v.NodePublishSecretRef = aSecret }), []string{"spec.persistentvolumesource Forbidden"}},
		"the class of old becomes new":    {Claim(withNode), oldClass("a", nil), aClaim(func(s *corev1.PersistentVolumeClaimSpec) { s.StorageClassName = ptr.To("a") }), nil},
		"the class of old stays":          {Claim(withNode), oldClass("a", nil), oldClass("a", ptr.To("b")), []string{"spec Forbidden"}},
		"the name of old is kept":         {Claim(withNode), oldClass("a", nil), oldClass("b", nil), []string{"metadata.annotations.volume.beta.kubernetes.io/storage-class Invalid"}},
		"a class binds as it did": {Class(withNode), aClass(nil), aClass(func(c *storagev1.StorageClass) {
			c.VolumeBindingMode = ptr.To(storagev1.VolumeBindingWaitForFirstConsumer)
		}), []string{"volumeBindingMode Invalid"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			c.kind.Default(c.obj)
			c.kind.Default(c.old)
			registrytest.WantErrors(t, c.kind.ValidateUpdate(context.Background(), c.obj, c.old), c.want...)
		})
	}
}

func TestStatusOfClaims(t *testing.T) {
	for sentence, c := range map[string]struct {
		status corev1.PersistentVolumeClaimStatus
		want   []string
	}{
		"what a claim has":         {corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: size("1Gi"), AllocatedResources: size("1Gi")}, nil},
		"less than nothing":        {corev1.PersistentVolumeClaimStatus{Capacity: size("-1")}, []string{"status.capacity[storage] Invalid"}},
		"storage is allocated":     {corev1.PersistentVolumeClaimStatus{AllocatedResources: corev1.ResourceList{"cpu": resource.MustParse("1")}}, []string{"status.allocatedResources NotSupported"}},
		"or what others define":    {corev1.PersistentVolumeClaimStatus{AllocatedResources: corev1.ResourceList{"example.com/a": resource.MustParse("1")}}, nil},
		"a resize is in a state":   {corev1.PersistentVolumeClaimStatus{AllocatedResourceStatuses: map[corev1.ResourceName]corev1.ClaimResourceStatus{"storage": "NodeResizePending"}}, nil},
		"and in none that is made": {corev1.PersistentVolumeClaimStatus{AllocatedResourceStatuses: map[corev1.ResourceName]corev1.ClaimResourceStatus{"storage": "Some"}}, []string{"status.allocatedResourceStatuses NotSupported"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			claim := aClaim(nil)
			claim.Status = c.status
			registrytest.WantErrors(t, Claim(withNode).Status.ValidateUpdate(context.Background(), claim, aClaim(nil)), c.want...)
		})
	}
}

func TestTheTimeOfAPhaseIsKept(t *testing.T) {
	old, now := aVolume(nil), aVolume(func(s *corev1.PersistentVolumeSpec) { s.HostPath.Path = "/other" })
	long := ptr.To(registrytest.Ago(time.Hour))
	old.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable, LastPhaseTransitionTime: long}
	now.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound, LastPhaseTransitionTime: long}
	prepare := Volume(withNode).Status.PrepareForUpdate
	prepare(context.Background(), now, old)
	if now.Spec.HostPath.Path != "/data" || now.Status.LastPhaseTransitionTime.Equal(long) {
		t.Errorf("another phase: %+v", now)
	}
	same := old.DeepCopy()
	same.Status.Message = "waits"
	prepare(context.Background(), same, old)
	if !same.Status.LastPhaseTransitionTime.Equal(long) {
		t.Errorf("the same phase: %+v", same.Status)
	}
}

func TestOneDataSourceIsTheOther(t *testing.T) {
	byReference := aClaim(func(s *corev1.PersistentVolumeClaimSpec) {
		s.DataSourceRef = &corev1.TypedObjectReference{Kind: "PersistentVolumeClaim", Name: "other"}
	})
	direct := aClaim(func(s *corev1.PersistentVolumeClaimSpec) {
		s.DataSource = &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: "other"}
	})
	a, b := registrytest.Posted(Claim(pod.Options{}), byReference), registrytest.Posted(Claim(pod.Options{}), direct)
	if diff := cmp.Diff(a.Spec, b.Spec); diff != "" || a.Spec.DataSource == nil || a.Spec.DataSourceRef == nil {
		t.Errorf("%+v, %s", a.Spec, diff)
	}
	without := a.DeepCopy()
	without.Spec.DataSource = nil
	Claim(pod.Options{}).PrepareForUpdate(context.Background(), without, a)
	if without.Spec.DataSource == nil {
		t.Error("an update drops one of them")
	}
}

func TestWhatIsOldIsWarnedOf(t *testing.T) {
	annotated := aVolume(nil)
	annotated.Annotations = map[string]string{corev1.MountOptionAnnotation: "ro"}
	for name, c := range map[string]struct {
		kind kinds.Resource
		obj  runtime.Object
		want string
	}{
		"an annotation that is a field":   {Claim(withNode), oldClass("a", nil), "spec.storageClassName"},
		"options in an annotation":        {Volume(pod.Options{}), annotated, "spec.mountOptions"},
		"a policy of old":                 {Volume(pod.Options{}), aVolume(func(s *corev1.PersistentVolumeSpec) { s.PersistentVolumeReclaimPolicy = "Recycle" }), "Recycle is deprecated"},
		"a label of old":                  {Volume(withNode), onMachines("beta.kubernetes.io/os"), "use kubernetes.io/os instead"},
		"a kind that is gone":             {Volume(pod.Options{}), aVolume(of(corev1.PersistentVolumeSource{CephFS: &corev1.CephFSPersistentVolumeSource{Monitors: []string{"a"}}})), "use a volume of type csi"},
		"a fraction of a byte":            {Claim(withNode), aClaim(func(s *corev1.PersistentVolumeClaimSpec) { s.Resources.Requests = size("500m") }), "spec.resources.requests[storage]: is a fraction"},
		"a limit of a fraction":           {Claim(withNode), aClaim(func(s *corev1.PersistentVolumeClaimSpec) { s.Resources.Limits = size("1500m") }), "spec.resources.limits[storage]: is a fraction"},
		"nothing of what is all in order": {Volume(withNode), aVolume(nil), ""},
	} {
		created := c.kind.WarningsOnCreate(context.Background(), c.obj)
		updated := c.kind.WarningsOnUpdate(context.Background(), c.obj, c.obj)
		if all := strings.Join(created, "\n"); !strings.Contains(all, c.want) || c.want == "" && all != "" {
			t.Errorf("%s: warnings %q", name, created)
		}
		if diff := cmp.Diff(created, updated); diff != "" {
			t.Errorf("%s: an update is warned of otherwise: %s", name, diff)
		}
	}
}

func TestTheyAreProtectedFromTheStart(t *testing.T) {
	for finalizer, obj := range map[string]metav1.Object{
		core.VolumeProtection: registrytest.Posted(Volume(withNode), aVolume(nil)),
		core.ClaimProtection:  registrytest.Posted(Claim(withNode), aClaim(nil)),
	} {
		if diff := cmp.Diff([]string{finalizer}, obj.GetFinalizers()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestForeignClassesAreWarnedOf(t *testing.T) {
	served := func(classes ...string) pod.Options {
		return pod.Options{Node: withNode.Node, LocalStorageClasses: classes}
	}
	for name, c := range map[string]struct {
		options pod.Options
		class   *storagev1.StorageClass
		warned  bool
	}{
		"not served":        {served(), aClass(nil), true},
		"another is served": {served("slow"), aClass(nil), true},
		"served":            {served("fast"), aClass(nil), false},
		"all are served":    {served("*"), aClass(nil), false},
		"without a node":    {pod.Options{}, aClass(nil), false},
		"one of our own":    {served(), LocalClass(), false},
	} {
		warnings := Class(c.options).WarningsOnCreate(context.Background(), c.class)
		if warned := len(warnings) == 1 && strings.Contains(warnings[0], "--local-storage-classes fast"); warned != c.warned {
			t.Errorf("%s: warnings %q", name, warnings)
		}
	}
}

func TestRows(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "x", CreationTimestamp: registrytest.Ago(time.Minute)}
	pv := registrytest.Posted(Volume(withNode), aVolume(func(s *corev1.PersistentVolumeSpec) {
		s.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany, corev1.ReadWriteOnce}
		s.ClaimRef, s.StorageClassName = &corev1.ObjectReference{Namespace: "ns", Name: "c"}, "fast"
	}))
	pv.ObjectMeta, pv.Status = meta, corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound}
	unbound := registrytest.Posted(Claim(withNode), aClaim(nil))
	unbound.ObjectMeta = meta
	bound := unbound.DeepCopy()
	bound.DeletionTimestamp, bound.Spec.VolumeName = ptr.To(registrytest.Ago(time.Second)), "v"
	bound.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: size("2Gi"), AccessModes: bound.Spec.AccessModes}
	class := LocalClass()
	class.CreationTimestamp = meta.CreationTimestamp
	for sentence, c := range map[string]struct {
		kind kinds.Resource
		obj  runtime.Object
		want []any
	}{
		"a volume":                      {Volume(withNode), pv, []any{"x", "1Gi", "RWO,RWX", "Retain", "Bound", "ns/c", "fast", "<unset>", "", "60s", "Filesystem"}},
		"a claim that waits":            {Claim(withNode), unbound, []any{"x", "Pending", "", "", "", "", "<unset>", "60s", "Filesystem"}},
		"a bound claim that is deleted": {Claim(withNode), bound, []any{"x", "Terminating", "v", "2Gi", "RWO", "", "<unset>", "60s", "Filesystem"}},
		"a class":                       {Class(withNode), class, []any{"local (default)", "stint.dev/local", "Delete", "WaitForFirstConsumer", false, "60s"}},
	} {
		if diff := cmp.Diff(c.want, c.kind.Row(c.obj, registrytest.Now)); diff != "" {
			t.Errorf("%s: %s", sentence, diff)
		}
	}
}
