package job

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/wrappers"
)

const owner types.UID = "job"

func matchesAll(types.UID, *corev1.Pod) bool { return true }

var noon = time.Unix(1_700_000_000, 0)

// version makes a version of pod p.
func version(resourceVersion string, changes ...func(*corev1.Pod)) *corev1.Pod {
	return wrappers.MakePod("p").UID("p").ResourceVersion(resourceVersion).Controller(wrappers.MakeJob("j").UID(owner).Obj()).
		Finalizers(batchv1.JobTrackingFinalizer).With(changes...).Obj()
}

func ended(p *corev1.Pod)    { p.Status.Phase = corev1.PodSucceeded }
func deleting(p *corev1.Pod) { p.DeletionTimestamp = ptr.To(metav1.NewTime(noon)) }

func (x *podCache) observed() core.Observation {
	obs := core.Observation{Job: wrappers.MakeJob("j").UID(owner).Obj(), Now: noon}
	x.observe(&obs)
	return obs
}

func TestPodCache(t *testing.T) {
	tests := map[string]struct {
		do func(*podCache)
		// version is the one that a decision sees, empty for none.
		version          string
		deleted, removed bool
	}{
		"a pod that ended and lost its finalizer is dropped": {
			do: func(x *podCache) {
				x.observePod(owner, version("1"))
				x.observePod(owner, version("2", ended, core.RemoveFinalizer))
			},
		},
		"the own removal of the finalizer hides a pod that ended at once, whatever is shown late": {
			do: func(x *podCache) {
				x.observePod(owner, version("1"))
				x.ObserveWrite(owner, version("3", ended, core.RemoveFinalizer))
				x.observePod(owner, version("2", ended))
			},
		},
		"a deletion is seen": {
			do: func(x *podCache) {
				x.observePod(owner, version("1"))
				x.Deleted("p")
			}, version: "1", deleted: true,
		},
		"the removal of a finalizer counts until it is shown": {
			do: func(x *podCache) {
				x.observePod(owner, version("1"))
				x.observeFinalizerRemoved("p")
			}, version: "1", removed: true,
		},
		"and no longer": {
			do: func(x *podCache) {
				x.observePod(owner, version("1"))
				x.observeFinalizerRemoved("p")
				x.observePod(owner, version("2", core.RemoveFinalizer))
			}, version: "2",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			x := newPodCache(matchesAll, nil)
			x.Open(owner)
			tt.do(x)
			obs, got := x.observed(), ""
			if len(obs.Pods) > 0 {
				got = obs.Pods[0].ResourceVersion
			}
			if got != tt.version || obs.InFlight.Deleted.Has("p") != tt.deleted || obs.InFlight.FinalizerRemoved.Has("p") != tt.removed {
				t.Errorf("version %q, in flight %+v", got, obs.InFlight)
			}
		})
	}
}

func TestWhatIsForgottenOfAJobAreThePodsThatHaveItsFinalizer(t *testing.T) {
	x := newPodCache(matchesAll, nil)
	named := func(uid types.UID) func(*corev1.Pod) { return func(p *corev1.Pod) { p.UID = uid } }
	x.observePod(owner, version("1", named("held")))
	x.observePod(owner, version("1", named("released")))
	x.observeFinalizerRemoved("released")
	x.observePod(owner, version("1", named("bare"), core.RemoveFinalizer))
	x.observePod(owner, version("1", named("gone")))
	x.Gone("gone")
	if held := x.forget(owner); len(held) != 1 || held[0].UID != "held" {
		t.Errorf("%v have the finalizer", held)
	}
	if len(x.finalizerRemoved) != 0 || x.Known(owner) {
		t.Error("the Job is not forgotten")
	}
}

func TestThePodCacheDoesNotGrowWithHistory(t *testing.T) {
	x := newPodCache(matchesAll, nil)
	for i := range 10_000 {
		uid := types.UID(time.Duration(i).String())
		named := func(p *corev1.Pod) { p.UID = uid }
		x.Open(owner)
		x.ObserveWrite(owner, version("1", named))
		x.observePod(owner, version("1", named))
		x.observePod(owner, version("2", named, ended))
		x.observeFinalizerRemoved(uid)
		x.observePod(owner, version("3", named, ended, core.RemoveFinalizer))
		if i%2 == 0 {
			x.observeFinalizerRemoved(uid) // The informer was faster than the answer.
		}
		x.Close(owner)
	}
	if x.Known(owner) || len(x.finalizerRemoved) != 0 {
		t.Error("something is kept of a Job that has no pods left to count")
	}
}

func TestOnlyChangesOfOthersRequeueTheJob(t *testing.T) {
	x := newPodCache(matchesAll, nil)
	x.Open(owner)
	x.ObserveWrite(owner, version("1"))
	if x.observePod(owner, version("1")) {
		t.Error("the controller's own write requeues the Job")
	}
	if !x.observePod(owner, version("2", ended)) {
		t.Error("the end of a pod does not requeue the Job")
	}
	x.ObserveWrite(owner, version("3", ended, core.RemoveFinalizer))
	if x.observePod(owner, version("3", ended, core.RemoveFinalizer)) {
		t.Error("the controller's own removal of a finalizer requeues the Job")
	}
	x.Close(owner)
	if x.drop(version("3", ended, core.RemoveFinalizer)) {
		t.Error("the end of a pod that does not matter requeues the Job")
	}
}
