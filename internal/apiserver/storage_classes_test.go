package apiserver_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
)

const defaultClass = "storageclass.kubernetes.io/is-default-class"

func claim(name string, class *string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: class,
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
}

func class(name string, expands bool) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "example.com/disks", AllowVolumeExpansion: &expands}
}

func TestTheStorageClassLocalIsAlwaysThere(t *testing.T) {
	dir := t.TempDir()
	s := apiservertest.Start(t, withNode, apiservertest.In(dir))
	classes := s.Clientset().StorageV1().StorageClasses()
	before := must[*storagev1.StorageClass](t)(classes.Get(t.Context(), "local", metav1.GetOptions{}))
	if before.Provisioner != "stint.dev/local" || *before.ReclaimPolicy != "Delete" || *before.VolumeBindingMode != "WaitForFirstConsumer" {
		t.Errorf("made: %+v", before)
	}
	for _, options := range []metav1.DeleteOptions{{DryRun: []string{metav1.DryRunAll}}, {}} {
		if err := classes.Delete(t.Context(), "local", options); err != nil {
			t.Fatal(err)
		}
	}
	after := must[*storagev1.StorageClass](t)(classes.Get(t.Context(), "local", metav1.GetOptions{}))
	if after.UID == before.UID {
		t.Error("the class was not deleted")
	}
	must[*storagev1.StorageClass](t)(classes.Patch(t.Context(), "local", types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"`+defaultClass+`":"false"}}}`), metav1.PatchOptions{}))
	s.Stop()
	classes = apiservertest.Start(t, withNode, apiservertest.In(dir)).Clientset().StorageV1().StorageClasses()
	if again := must[*storagev1.StorageClass](t)(classes.Get(t.Context(), "local", metav1.GetOptions{})); again.UID != after.UID || again.Annotations[defaultClass] != "false" {
		t.Errorf("the next start made another class: %+v", again.ObjectMeta)
	}
}

func TestAServerWithoutANodeHasNoStorageClass(t *testing.T) {
	classes := apiservertest.Start(t).Clientset().StorageV1().StorageClasses()
	if all := must[*storagev1.StorageClassList](t)(classes.List(t.Context(), metav1.ListOptions{})).Items; len(all) > 0 {
		t.Errorf("classes: %v", all)
	}
}

func TestClaimsGetTheNewestDefaultClass(t *testing.T) {
	c := apiservertest.Start(t, withNode).Clientset()
	classOf := func(name string, given *string) string {
		made := must[*corev1.PersistentVolumeClaim](t)(c.CoreV1().PersistentVolumeClaims("default").Create(t.Context(), claim(name, given), metav1.CreateOptions{}))
		return ptr.Deref(made.Spec.StorageClassName, "none")
	}
	if got := classOf("plain", nil); got != "local" {
		t.Errorf("class %s", got)
	}
	if got := classOf("empty", ptr.To("")); got != "" {
		t.Errorf("a claim that wants no class gets %s", got)
	}
	if got := classOf("named", ptr.To("other")); got != "other" {
		t.Errorf("a claim of another class gets %s", got)
	}
	// Of two of the same second, the first by name is taken, as kube-apiserver does it.
	mine := class("a-newer-one", false)
	mine.Annotations = map[string]string{defaultClass: "true"}
	must[*storagev1.StorageClass](t)(c.StorageV1().StorageClasses().Create(t.Context(), mine, metav1.CreateOptions{}))
	if got := classOf("newest", nil); got != mine.Name {
		t.Errorf("the class is %s", got)
	}
	for _, name := range []string{"local", mine.Name} {
		must[*storagev1.StorageClass](t)(c.StorageV1().StorageClasses().Patch(t.Context(), name, types.MergePatchType,
			[]byte(`{"metadata":{"annotations":null}}`), metav1.PatchOptions{}))
	}
	if got := classOf("late", nil); got != "none" {
		t.Errorf("without a default class it is %s", got)
	}
}

func TestClaimsGrowIfTheirClassAllowsIt(t *testing.T) {
	c := apiservertest.Start(t, withNode).Clientset()
	for _, each := range []*storagev1.StorageClass{class("grows", true), class("stays", false)} {
		must[*storagev1.StorageClass](t)(c.StorageV1().StorageClasses().Create(t.Context(), each, metav1.CreateOptions{}))
	}
	for name, allowed := range map[string]bool{"grows": true, "stays": false, "absent": false, "local": false} {
		if err := grow(t, c, boundClaim(t, c, name, ptr.To(name))); allowed != (err == nil) || err != nil && !apierrors.IsForbidden(err) {
			t.Errorf("a claim of class %s: %v", name, err)
		}
	}
	waiting := must[*corev1.PersistentVolumeClaim](t)(c.CoreV1().PersistentVolumeClaims("default").Create(t.Context(), claim("waiting", ptr.To("grows")), metav1.CreateOptions{}))
	if err := grow(t, c, waiting); !apierrors.IsInvalid(err) {
		t.Errorf("a claim that is not bound: %v", err)
	}
}

func boundClaim(t *testing.T, c kubernetes.Interface, name string, class *string) *corev1.PersistentVolumeClaim {
	t.Helper()
	claims := c.CoreV1().PersistentVolumeClaims("default")
	made := must[*corev1.PersistentVolumeClaim](t)(claims.Create(t.Context(), claim(name, class), metav1.CreateOptions{}))
	made.Status.Phase = corev1.ClaimBound
	return must[*corev1.PersistentVolumeClaim](t)(claims.UpdateStatus(t.Context(), made, metav1.UpdateOptions{}))
}

func grow(t *testing.T, c kubernetes.Interface, claim *corev1.PersistentVolumeClaim) error {
	t.Helper()
	claim.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("2Gi")
	_, err := c.CoreV1().PersistentVolumeClaims("default").Update(t.Context(), claim, metav1.UpdateOptions{})
	return err
}

func TestVolumesAndClaimsStayUntilTheirFinalizersGo(t *testing.T) {
	c := apiservertest.Start(t, withNode).Clientset()
	claims := c.CoreV1().PersistentVolumeClaims("default")
	must[*corev1.PersistentVolumeClaim](t)(claims.Create(t.Context(), claim("c", nil), metav1.CreateOptions{}))
	if err := claims.Delete(t.Context(), "c", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	kept := must[*corev1.PersistentVolumeClaim](t)(claims.Get(t.Context(), "c", metav1.GetOptions{}))
	if kept.DeletionTimestamp == nil || len(kept.Finalizers) != 1 {
		t.Errorf("kept: %+v", kept.ObjectMeta)
	}
	_, err := claims.Patch(t.Context(), "c", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := claims.Get(t.Context(), "c", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after its finalizer: %v", err)
	}
}

const storageManifest = `apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce, ReadOnlyMany]
  hostPath: {path: /data}
  claimRef: {namespace: default, name: data}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: ""
  volumeName: disk
  resources: {requests: {storage: 1Gi}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: example.com/disks
`

func TestKubectlWorksWithStorage(t *testing.T) {
	dir := t.TempDir()
	s := &running{Server: apiservertest.Start(t, withNode, apiservertest.In(dir), apiservertest.Listening(t)).Server, dir: dir}
	nfs := strings.Replace(strings.Split(storageManifest, "---")[0], "hostPath: {path: /data}", "nfs: {server: a, path: /b}", 1)
	runKubectl(t, s, []kubectlStep{
		{does: "a class that nothing serves is warned of", args: "apply --dry-run=server -f storage.yaml", want: "--local-storage-classes fast"},
		{does: "all are applied", args: "apply -f storage.yaml", want: "persistentvolume/disk created\npersistentvolumeclaim/data created"},
		{does: "applied again they do not change", args: "apply -f storage.yaml", want: "persistentvolume/disk unchanged\npersistentvolumeclaim/data unchanged"},
		{does: "there is no difference", args: "diff -f storage.yaml", want: ""},
		{does: "the server applies them too", args: "apply --server-side --force-conflicts -f storage.yaml", want: "serverside-applied"},
		{does: "they have short names", args: "get pvc,pv,sc", want: "storageclass.storage.k8s.io/local (default)"},
		{does: "a volume has a row", args: "get pv -o wide", want: "RWO,ROX"},
		{does: "a claim is described", args: "describe pvc data", want: "Used By:       <none>"},
		{does: "a volume is described", args: "describe pv disk", want: "Path:          /data"},
		{does: "a class is described", args: "describe sc local", want: "VolumeBindingMode:     WaitForFirstConsumer"},
		{does: "they are explained", args: "explain pvc.spec.volumeName", want: "FIELD: volumeName <string>"},
		{does: "a volume is found by its name", args: "get pv --field-selector metadata.name=disk -o name", want: "persistentvolume/disk"},
		{does: "a volume of the network is refused", args: "create -f nfs.yaml", want: "stint run --claim", fails: true},
		{does: "the path of a volume stays", args: `patch pv disk -p {"spec":{"hostPath":{"path":"/other"}}}`, want: "immutable", fails: true},
		{does: "its policy changes", args: `patch pv disk -p {"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`, want: "patched"},
		{does: "a status is patched", args: `patch pvc data --subresource=status -p {"status":{"phase":"Bound"}}`, want: "patched"},
		{does: "it is waited for", args: "wait --for=jsonpath={.status.phase}=Bound pvc/data --timeout=5m", want: "condition met"},
		{does: "a claim is deleted", args: "delete pvc data --wait=false", want: "deleted"},
		{does: "and stays until nothing uses it", args: "get pvc data", want: "Terminating"},
		{does: "a class is deleted", args: "delete sc fast --timeout=5m", want: "deleted"},
		{does: "the class local comes back", args: "delete sc local --timeout=5m", want: "deleted"},
		{does: "at once", args: "get sc -o name", want: "storageclass.storage.k8s.io/local"},
	}, map[string]string{"storage.yaml": storageManifest, "nfs.yaml": nfs})
}
