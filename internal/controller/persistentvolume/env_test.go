package persistentvolume_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/internal/apiserver/inprocess"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/ephemeralvolume"
	"github.com/stint-dev/stint/internal/controller/persistentvolume"
	"github.com/stint-dev/stint/internal/controller/volumeprotection"
	"github.com/stint-dev/stint/internal/localvolume"
	core "github.com/stint-dev/stint/internal/persistentvolume"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

const (
	namespace = metav1.NamespaceDefault
	node      = "here"
)

// world is a server of its own, as volumes belong to no namespace, with all controllers of volumes.
type world struct {
	testing.TB
	client.Interface
	api *apiservertest.Server
	directories
	events *journal
	stop   func()
}

// open returns a world whose controllers do not run yet.
func open(t testing.TB) *world {
	t.Helper()
	api := apiservertest.Start(t)
	w := &world{TB: t, Interface: api.Client(), api: api, directories: directories{localvolume.Of(t.TempDir(), nil)}, events: &journal{}}
	w.put(w.Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Labels: map[string]string{corev1.LabelHostname: node}}}))
	w.class("local", core.Provisioner, nil)
	return w
}

func start(t testing.TB, served ...string) *world {
	t.Helper()
	w := open(t)
	w.control(persistentvolume.Options{Provisioner: w.directories, LocalClasses: served})
	return w
}

// control starts the controllers. Their caches are new, as those of a new server are.
func (w *world) control(o persistentvolume.Options) {
	w.Helper()
	w.controlBy(w.fresh(), o)
}

func (w *world) fresh() *inprocess.Client {
	return w.api.Server.Client().(*inprocess.Client).Within(namespace)
}

func (w *world) controlBy(c *inprocess.Client, o persistentvolume.Options) {
	w.Helper()
	w.stop = w.run(c, persistentvolume.New(c, w.events, o), volumeprotection.NewClaims(c), volumeprotection.NewVolumes(c),
		ephemeralvolume.New(c, w.events))
}

// run runs controllers that use c until the test ends, or stop is called.
func (w *world) run(c *inprocess.Client, all ...interface{ Run(context.Context) error }) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	if err := c.StartInformers(ctx); err != nil {
		w.Fatal(err)
	}
	var running sync.WaitGroup
	for _, r := range all {
		running.Go(func() {
			if err := r.Run(ctx); err != nil {
				w.Error(err)
			}
		})
	}
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		c.Wait()
	})
	w.Cleanup(stop)
	return stop
}

// put fails the test if an object could not be written.
func (w *world) put(_ any, err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// class makes a class, or changes the one that the server has made.
func (w *world) class(name, provisioner string, change func(*storagev1.StorageClass)) {
	w.Helper()
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner,
		ReclaimPolicy: ptr.To(corev1.PersistentVolumeReclaimDelete), VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer)}
	if change != nil {
		change(class)
	}
	_, err := w.StorageClasses().Create(w.Context(), class)
	if err != nil && !apierrors.IsAlreadyExists(err) {
		w.Fatal(err)
	}
}

func immediate(c *storagev1.StorageClass) {
	c.VolumeBindingMode = ptr.To(storagev1.VolumeBindingImmediate)
}

func retained(c *storagev1.StorageClass) {
	immediate(c)
	c.ReclaimPolicy = ptr.To(corev1.PersistentVolumeReclaimRetain)
}

// claim makes a claim of 1Gi. The class is nil if it is "none".
func (w *world) claim(name, class string, changes ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	w.Helper()
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Finalizers: []string{core.ClaimProtection}},
		Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: storage("1Gi")}}}
	if class == "none" {
		c.Spec.StorageClassName = nil
	}
	for _, change := range changes {
		change(c)
	}
	made, err := w.PersistentVolumeClaims().Create(w.Context(), c)
	w.put(made, err)
	return made
}

func naming(volume string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = volume }
}

func asking(size string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) { c.Spec.Resources.Requests = storage(size) }
}

func storage(size string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
}

// volume makes a hostPath volume of 1Gi, without a class and with the policy Retain.
func (w *world) volume(name string, changes ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
	w.Helper()
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{core.VolumeProtection}},
		Spec: corev1.PersistentVolumeSpec{Capacity: storage("1Gi"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data/" + name}}}}
	for _, change := range changes {
		change(v)
	}
	made, err := w.PersistentVolumes().Create(w.Context(), v)
	w.put(made, err)
	return made
}

func of(size string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) { v.Spec.Capacity = storage(size) }
}

func forClaim(name string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: namespace, Name: name}
	}
}

func policy(p corev1.PersistentVolumeReclaimPolicy) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) { v.Spec.PersistentVolumeReclaimPolicy = p }
}

// user makes a pod that uses a claim.
func (w *world) user(name, claim string, changes ...func(*corev1.Pod)) *corev1.Pod {
	w.Helper()
	changes = append([]func(*corev1.Pod){func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}})
	}}, changes...)
	return w.pod(name, changes...)
}

func (w *world) pod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	w.Helper()
	p, err := w.Pods().Create(w.Context(), wrappers.MakePod(name).Namespace(namespace).Image("i").With(changes...).Obj())
	w.put(p, err)
	return p
}

func onNode(p *corev1.Pod) { p.Spec.NodeName = node }

func (w *world) end(p *corev1.Pod) {
	w.Helper()
	w.put(w.Pods().ModifyStatus(w.Context(), p, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }))
}

func (w *world) deleteClaim(c *corev1.PersistentVolumeClaim) {
	w.Helper()
	w.put(nil, w.PersistentVolumeClaims().Delete(w.Context(), c, client.DeleteOptions{}))
}

func (w *world) deleteVolume(v *corev1.PersistentVolume) {
	w.Helper()
	w.put(nil, w.PersistentVolumes().Delete(w.Context(), v, client.DeleteOptions{}))
}

func (w *world) getClaim(name string) *corev1.PersistentVolumeClaim {
	w.Helper()
	return get(w, w.PersistentVolumeClaims(), namespace, name)
}

func (w *world) getVolume(name string) *corev1.PersistentVolume {
	w.Helper()
	return get(w, w.PersistentVolumes(), "", name)
}

// get returns an object, or nil.
func get[T client.Object](w *world, r client.Resource[T], ns, name string) (none T) {
	w.Helper()
	o, err := r.Get(w.Context(), ns, name)
	if apierrors.IsNotFound(err) {
		return none
	}
	w.put(o, err)
	return o
}

// phases waits until a claim and a volume are in these phases; "gone" if it does not exist.
func (w *world) phases(claim string, wantClaim string, volume, wantVolume string) {
	w.Helper()
	var c, v string
	await.Until(w, "the claim and the volume are as they should", func() bool {
		c, v = "gone", "gone"
		if x := w.getClaim(claim); x != nil {
			c = string(x.Status.Phase)
		}
		if x := w.getVolume(volume); x != nil {
			v = string(x.Status.Phase)
		}
		return c == wantClaim && v == wantVolume
	}, func() string {
		return fmt.Sprintf("claim %s %s, volume %s %s, want %s and %s", claim, c, volume, v, wantClaim, wantVolume)
	})
}

// bound waits until a claim is bound, and returns it and its volume.
func (w *world) bound(claim string) (c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) {
	w.Helper()
	await.Until(w, "claim "+claim+" is bound", func() bool {
		c = w.getClaim(claim)
		return c != nil && c.Status.Phase == corev1.ClaimBound
	}, func() string { return fmt.Sprint(w.events.list()) })
	v = w.getVolume(c.Spec.VolumeName)
	if v == nil || v.Spec.ClaimRef.UID != c.UID || v.Status.Phase != corev1.VolumeBound {
		w.Fatalf("the volume of claim %s is %+v", claim, v)
	}
	return c, v
}

// told waits for an event, in the form "reason: message".
func (w *world) told(want string) {
	w.Helper()
	await.Until(w, "event "+want, func() bool { return slices.Contains(w.events.list(), want) },
		func() string { return fmt.Sprint(w.events.list()) })
}

// directories are the volumes of the only node.
type directories struct{ localvolume.Dir }

func (directories) NodeName() string { return node }

// fill writes something into the directory of a volume.
func (d directories) fill(t testing.TB, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(d.Path(name), "data"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (d directories) has(name string) bool {
	_, err := os.Stat(filepath.Join(d.Path(name), "data"))
	return err == nil
}

// names are the directories that exist.
func (d directories) names(t testing.TB) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(d.Path("any")))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// journal is a recorder that keeps the events.
type journal struct {
	mu     sync.Mutex
	events []string
}

func (j *journal) Event(_ runtime.Object, _, reason, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, reason+": "+message)
}

func (j *journal) Eventf(o runtime.Object, kind, reason, format string, args ...any) {
	j.Event(o, kind, reason, fmt.Sprintf(format, args...))
}

func (j *journal) AnnotatedEventf(o runtime.Object, _ map[string]string, kind, reason, format string, args ...any) {
	j.Eventf(o, kind, reason, format, args...)
}

func (j *journal) list() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.events)
}
