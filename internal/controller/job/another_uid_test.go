package job

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/wrappers"
)

// informers is a client that has informers and no server.
type informers struct{ jobs, pods cache.SharedIndexInformer }

type informer[T client.Object] struct {
	client.Resource[T]
	cached cache.SharedIndexInformer
}

func (i informer[T]) Informer() cache.SharedIndexInformer { return i.cached }

func (i informers) Jobs() client.Resource[*batchv1.Job] {
	return informer[*batchv1.Job]{cached: i.jobs}
}
func (i informers) Pods() client.Resource[*corev1.Pod]                  { return informer[*corev1.Pod]{cached: i.pods} }
func (i informers) ResultSlices() client.Resource[*stintv1.ResultSlice] { return nil }

// showing makes a controller whose informers show these objects and call no handler.
func showing(t *testing.T, objects ...runtime.Object) *Controller {
	t.Helper()
	c := New(informers{
		jobs: cache.NewSharedIndexInformer(&cache.ListWatch{}, &batchv1.Job{}, 0, cache.Indexers{}),
		pods: cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, cache.Indexers{}),
	}, nil, Options{FailedPodsLimit: ptr.To(0)})
	t.Cleanup(c.loop.Queue.ShutDown)
	for _, o := range objects {
		informer := c.jobInformer
		if _, isPod := o.(*corev1.Pod); isPod {
			informer = c.podInformer
		}
		if err := informer.GetStore().Add(o); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func jobOf(uid types.UID) *batchv1.Job {
	return wrappers.MakeJob("j").Namespace("default").UID(uid).ResourceVersion(string(uid)).Obj()
}

func TestFailedPodsAreKeptOfTheJobThatLimitsThemAndNoOther(t *testing.T) {
	others := jobOf("1")
	others.Spec.ManagedBy = ptr.To("example.com/other")
	for name, tt := range map[string]struct {
		job  *batchv1.Job
		kept int
	}{
		"its own":                     {jobOf("1"), 1},
		"another Job of that name":    {jobOf("2"), 0},
		"that of another controller":  {others, 0},
		"one that is not there (yet)": {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := showing(t)
			if tt.job != nil {
				c = showing(t, tt.job)
				c.jobAdded(tt.job)
			}
			p := version("1", core.RemoveFinalizer, func(p *corev1.Pod) {
				p.Namespace, p.Status.Phase = "default", corev1.PodFailed
				p.OwnerReferences = []metav1.OwnerReference{core.ControllerRef(jobOf("1"))}
			})
			c.podCached(nil, p)
			if n := len(c.podCache.failed("1")) + len(c.podCache.failed("2")); n != tt.kept {
				t.Errorf("%d pods are kept, want %d", n, tt.kept)
			}
		})
	}
}

// A dependency that finished for a waiting Job does not count for another Job of its name, which may be created while
// the watch is broken.
func TestAJobDoesNotInheritWhatEndedForAnotherOfItsName(t *testing.T) {
	waits := func(uid types.UID) *batchv1.Job {
		return wrappers.FromJob(jobOf(uid)).Annotation(core.DependsOn, "dep").Obj()
	}
	runs := wrappers.MakeJob("dep").Namespace("default").UID("dep").Obj()
	done := wrappers.FromJob(runs.DeepCopy()).Condition(batchv1.JobComplete, "").Obj()
	for name, tt := range map[string]struct {
		is   types.UID
		want *batchv1.Job
	}{
		"the same Job":             {"1", done},
		"another Job of that name": {"2", nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := showing(t)
			c.dependencyChanged(nil, waits("1"))
			c.dependencyChanged(runs, done)
			c.dependencyChanged(waits("1"), waits(tt.is))
			if got := c.dependencyIndex.endedFor(loop.Key(waits("1")), "dep"); got != tt.want {
				t.Errorf("what ended for it: %v, want %v", got, tt.want)
			}
		})
	}
}
