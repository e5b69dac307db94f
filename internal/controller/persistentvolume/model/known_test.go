package model_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/test/simulated"
	"github.com/stint-dev/stint/test/wrappers"
)

// play plays one history.
func play(t *testing.T, happens func(*world)) {
	t.Helper()
	if why := simulated.Run(t, func(sw *simulated.World) {
		w := newWorld(sw)
		w.start()
		happens(w)
	}); why != nil {
		t.Fatal(why)
	}
}

func (w *world) claim(name, class string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	c.Spec.StorageClassName = &class
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	made, err := w.claims.Create(c)
	w.must(made, err)
	return made
}

func (w *world) deleteClaim(name string) {
	w.must(nil, w.claims.Delete(namespace, name, "", client.DeleteOptions{}))
}

// showClaims delivers only the changes of claims.
func (w *world) showClaims() {
	feed := w.Processes[0].Feeds()[1]
	feed.Deliver(feed.Behind())
	feed.Notify(feed.Undelivered())
	w.Pause()
}

// serve serves the request that waits.
func (w *world) serve(verb, kind, name string, f simulated.Fault) {
	for _, r := range w.Waiting() {
		if r.Verb == verb && r.Kind == kind && r.Name == name {
			w.Serve(r, f)
			return
		}
	}
	w.Fail("no request to %s %s %s", verb, kind, name)
}

func TestAPolicyThatIsNotCachedYetKeepsTheData(t *testing.T) {
	play(t, func(w *world) {
		w.claim("a", deleting)
		w.RunUntilIdle()
		v := w.volumes.All()[0]
		w.must(w.volumes.Update("", v.Name, func(v *corev1.PersistentVolume) {
			v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
		}))
		w.must(w.claims.Update(namespace, "a", func(c *corev1.PersistentVolumeClaim) { c.Finalizers = nil }))
		w.deleteClaim("a")
		w.showClaims()
		w.Work()
		if !w.made[v.Name] {
			w.Fail("the data is gone")
		}
		w.finishAll()
	})
}

func TestAPodThatIsNotCachedYetKeepsItsClaim(t *testing.T) {
	play(t, func(w *world) {
		w.claim("a", deleting)
		w.RunUntilIdle()
		w.must(w.pods.Create(wrappers.MakePod("p").Namespace(namespace).Image("i").With(func(p *corev1.Pod) {
			p.Spec.NodeName = node
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "a"}}}}
		}).Obj()))
		w.pods.Change(w.pods.Find(namespace, "p"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })
		w.deleteClaim("a")
		w.showClaims()
		w.Work()
		if w.claims.Find(namespace, "a") == nil {
			w.Fail("the claim is gone")
		}
		w.finishAll()
	})
}

func TestAClaimGetsTheVolumeThatWasChosenForAnother(t *testing.T) {
	play(t, func(w *world) {
		v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v"}}
		v.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
		v.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
		v.Spec.HostPath = &corev1.HostPathVolumeSource{Path: "/d"}
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
		w.must(w.volumes.Create(v))
		w.RunUntilIdle()
		w.claim("a", "")
		w.claim("b", "")
		w.showClaims()
		w.serve("get", "persistentvolumeclaim", "a", simulated.NoFault)
		w.serve("get", "persistentvolumeclaim", "b", simulated.NoFault)
		w.serve("modify", "persistentvolume", "v", simulated.Refused)
		w.must(w.claims.Update(namespace, "a", func(c *corev1.PersistentVolumeClaim) { c.Finalizers = nil }))
		w.deleteClaim("a")
		w.finishAll()
	})
}
