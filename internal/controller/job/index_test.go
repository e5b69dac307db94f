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

func (x *podIndex) look() (core.Observation, []*corev1.Pod) {
	obs := core.Observation{Job: wrappers.MakeJob("j").UID(owner).Obj(), Now: noon}
	unshown := x.observe(&obs, time.Minute)
	return obs, unshown
}

func TestIndex(t *testing.T) {
	tests := map[string]struct {
		do func(*podIndex)
		// version is the one in the index, empty for none.
		version                    string
		deleted, released, unshown bool
	}{
		"an own write is known before it is shown": {
			do: func(x *podIndex) { x.wrote(owner, version("1"), noon) }, version: "1",
		},
		"a shown version replaces an older own one": {
			do: func(x *podIndex) { x.wrote(owner, version("1"), noon); x.show(owner, version("2")) }, version: "2",
		},
		"a stale version changes nothing": {
			do: func(x *podIndex) {
				x.wrote(owner, version("9"), noon)
				x.show(owner, version("10"))
				x.show(owner, version("9"))
			}, version: "10",
		},
		"a pod that ended and was released is dropped": {
			do: func(x *podIndex) {
				x.show(owner, version("1"))
				x.show(owner, version("2", ended, core.RemoveFinalizer))
			},
		},
		"an own release hides the pod at once": {
			do: func(x *podIndex) {
				x.show(owner, version("1", ended))
				x.wrote(owner, version("2", ended, core.RemoveFinalizer), noon)
			},
		},
		"and a late version does not bring it back": {
			do: func(x *podIndex) {
				x.show(owner, version("1"))
				x.wrote(owner, version("3", ended, core.RemoveFinalizer), noon)
				x.show(owner, version("2", ended))
			},
		},
		"a deletion counts until it is shown": {
			do: func(x *podIndex) {
				x.show(owner, version("1"))
				x.mark("p", func(e *entry) { e.deleted = true })
			}, version: "1", deleted: true,
		},
		"and then the pod shows it": {
			do: func(x *podIndex) {
				x.show(owner, version("1"))
				x.mark("p", func(e *entry) { e.deleted = true })
				x.show(owner, version("2", deleting))
			}, version: "2",
		},
		"a release counts until it is shown": {
			do: func(x *podIndex) {
				x.show(owner, version("1"))
				x.mark("p", func(e *entry) { e.released = true })
			}, version: "1", released: true,
		},
		"a pod that is gone before its creation returns stays gone": {
			do: func(x *podIndex) { x.open(owner); x.end(version("2")); x.wrote(owner, version("1"), noon) },
		},
		"a pod found missing is out": {
			do: func(x *podIndex) { x.show(owner, version("1")); x.mark("p", func(e *entry) { e.missing = true }) },
		},
		"a pod that is never shown is doubted in the end": {
			do: func(x *podIndex) { x.wrote(owner, version("1"), noon.Add(-time.Hour)) }, version: "1", unshown: true,
		},
		"a pod of another Job by now is dropped": {
			do: func(x *podIndex) { x.show(owner, version("1")); x.show("other", version("2")) },
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			x := newPodIndex(matchesAll)
			tt.do(x)
			obs, unshown := x.look()
			got := ""
			if len(obs.Pods) > 0 {
				got = obs.Pods[0].ResourceVersion
			}
			if got != tt.version || obs.InFlight.Deleted.Has("p") != tt.deleted || obs.InFlight.Released.Has("p") != tt.released || (len(unshown) > 0) != tt.unshown {
				t.Errorf("version %q, in flight %+v, unshown %d", got, obs.InFlight, len(unshown))
			}
		})
	}
}

func TestAPodIsAwaitedUntilItIsShownOrFoundMissing(t *testing.T) {
	for name, end := range map[string]func(*podIndex){
		"shown":   func(x *podIndex) { x.show(owner, version("1")) },
		"missing": func(x *podIndex) { x.mark("p", func(e *entry) { e.missing = true }) },
	} {
		t.Run(name, func(t *testing.T) {
			x := newPodIndex(matchesAll)
			x.wrote(owner, version("1"), noon)
			if !x.awaits(owner) {
				t.Error("nobody would ask for a pod that was never shown")
			}
			if end(x); x.awaits(owner) {
				t.Error("still awaited")
			}
		})
	}
}

func TestTheIndexDoesNotGrowWithHistory(t *testing.T) {
	x := newPodIndex(matchesAll)
	for i := range 10_000 {
		uid := types.UID(time.Duration(i).String())
		named := func(p *corev1.Pod) { p.UID = uid }
		x.wrote(owner, version("1", named), noon)
		x.show(owner, version("1", named))
		x.show(owner, version("2", named, ended))
		x.show(owner, version("3", named, ended, core.RemoveFinalizer))
	}
	if len(x.keptBy) != 0 || len(x.jobs[owner].pods) != 0 {
		t.Errorf("keeps %d pods of a Job that has none left to count", len(x.keptBy))
	}
}

func TestOnlyNewsWakesTheJob(t *testing.T) {
	x := newPodIndex(matchesAll)
	x.wrote(owner, version("1"), noon)
	if x.show(owner, version("1")) {
		t.Error("the controller's own write is news to it")
	}
	if !x.show(owner, version("2", ended)) {
		t.Error("the end of a pod is no news")
	}
	x.wrote(owner, version("3", ended, core.RemoveFinalizer), noon)
	if x.show(owner, version("3", ended, core.RemoveFinalizer)) {
		t.Error("the controller's own release is news to it")
	}
	if x.end(version("3", ended, core.RemoveFinalizer)) {
		t.Error("the end of a pod that does not matter is news")
	}
}
