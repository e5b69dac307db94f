package gc

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// model simulates how an API server deletes objects. It has one namespace, and each UID is the object's name.
type model map[types.UID]*metav1.ObjectMeta

var _ ownerGraph = model{}

func (m model) owner(_ metav1.Object, ref metav1.OwnerReference) (OwnerState, error) {
	if o, ok := m[ref.UID]; ok {
		return stateOf(o), nil
	}
	return Absent, nil
}

func (m model) known(_ metav1.Object, ref metav1.OwnerReference) (metav1.Object, bool) {
	o, ok := m[ref.UID]
	return o, ok
}

func (m model) dependents(owner metav1.Object) []metav1.Object {
	var all []metav1.Object
	for _, uid := range m.uids() {
		if o := m[uid]; uid != owner.GetUID() && m.names(o, owner.GetUID()) {
			all = append(all, o)
		}
	}
	return all
}

func (m model) names(o *metav1.ObjectMeta, owner types.UID) bool {
	return slices.ContainsFunc(o.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == owner })
}

func (m model) uids() []types.UID {
	var all []types.UID
	for uid := range m {
		all = append(all, uid)
	}
	slices.Sort(all)
	return all
}

func (m model) delete(o *metav1.ObjectMeta, how metav1.DeletionPropagation) {
	o.Finalizers = slices.DeleteFunc(o.Finalizers, func(f string) bool {
		return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
	})
	switch how {
	case orphan:
		o.Finalizers = append(o.Finalizers, metav1.FinalizerOrphanDependents)
	case foreground:
		o.Finalizers = append(o.Finalizers, metav1.FinalizerDeleteDependents)
	}
	o.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	m.reap(o)
}

func (m model) reap(o *metav1.ObjectMeta) {
	if o.DeletionTimestamp != nil && len(o.Finalizers) == 0 {
		delete(m, o.UID)
	}
}

// step decides on one object and applies the decision. It returns false if there was nothing to do.
func (m model) step(t *rapid.T, uid types.UID) bool {
	obj := m[uid]
	o, _, err := observe(m, obj)
	if err != nil {
		t.Fatal(err)
	}
	d := Decide(o)
	if d.Action == Nothing {
		return false
	}
	if d.Action == Delete {
		if len(o.owners(Solid)) > 0 || len(o.Owners) == 0 || o.Deleting {
			t.Fatalf("%s is deleted although %+v", uid, o)
		}
		m.delete(obj, d.Propagation)
		return true
	}
	d.edit(obj)
	m.reap(obj)
	return true
}

// settle calls step for objects in random order until nothing is left to do.
func (m model) settle(t *rapid.T) {
	for budget := 50 * (len(m) + 1); budget > 0; budget-- {
		var busy []types.UID
		for _, uid := range m.uids() {
			if o, _, _ := observe(m, m[uid]); Decide(o).Action != Nothing {
				busy = append(busy, uid)
			}
		}
		if len(busy) == 0 {
			return
		}
		m.step(t, rapid.SampledFrom(busy).Draw(t, "next"))
	}
	t.Fatal("decisions never come to rest")
}

// drawModel also draws owners that do not exist, objects that own themselves, and cycles. It draws few objects half of the
// time, as cycles are rare among many.
func drawModel(t *rapid.T) model {
	m := model{}
	n := rapid.OneOf(rapid.IntRange(1, 3), rapid.IntRange(4, 9)).Draw(t, "objects")
	for i := range n {
		o := &metav1.ObjectMeta{Name: fmt.Sprint("o", i), UID: types.UID(fmt.Sprint("o", i))}
		owners := rapid.SliceOfNDistinct(rapid.IntRange(0, n), 0, 3, rapid.ID[int]).Draw(t, "owners") // n does not exist
		for _, owner := range owners {
			block := rapid.IntRange(0, 3).Draw(t, "block") > 0
			o.OwnerReferences = append(o.OwnerReferences,
				metav1.OwnerReference{UID: types.UID(fmt.Sprint("o", owner)), BlockOwnerDeletion: &block})
		}
		m[o.UID] = o
	}
	return m
}

func TestDecisionsLeaveNoGarbageAndKeepWhatIsOwned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		for range rapid.IntRange(1, 3).Draw(t, "deletions") {
			uids := m.uids()
			if len(uids) == 0 {
				break
			}
			uid := rapid.SampledFrom(uids).Draw(t, "deleted")
			how := rapid.SampledFrom([]metav1.DeletionPropagation{background, foreground, orphan}).Draw(t, "how")
			m.delete(m[uid], how)
			if rapid.Bool().Draw(t, "settle between") {
				m.settle(t)
			}
		}
		m.settle(t)
		for uid, o := range m {
			if o.DeletionTimestamp != nil {
				t.Fatalf("%s is still being deleted: %+v", uid, o)
			}
			for _, ref := range o.OwnerReferences {
				if _, ok := m[ref.UID]; !ok {
					t.Fatalf("%s still names %s, which is gone", uid, ref.UID)
				}
			}
		}
	})
}

func TestOrphansStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		m.settle(t)
		uids := m.uids()
		if len(uids) == 0 {
			t.Skip("all was garbage")
		}
		uid := rapid.SampledFrom(uids).Draw(t, "deleted")
		m.delete(m[uid], orphan)
		m.settle(t)
		for _, other := range uids {
			if _, ok := m[other]; !ok && other != uid {
				t.Fatalf("%s went with %s, which left its dependents behind", other, uid)
			}
		}
	})
}

// In a foreground deletion no object is removed before the objects that block it.
func TestForegroundDeletionGoesFromTheLeavesUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := model{}
		n := rapid.IntRange(2, 9).Draw(t, "objects")
		parent := map[types.UID]types.UID{}
		for i := range n { // A tree: every object but the root has one owner, of a lower number, and blocks it.
			uid := types.UID(fmt.Sprint("o", i))
			o := &metav1.ObjectMeta{Name: string(uid), UID: uid}
			if i > 0 {
				block := true
				parent[uid] = types.UID(fmt.Sprint("o", rapid.IntRange(0, i-1).Draw(t, "owner")))
				o.OwnerReferences = []metav1.OwnerReference{{UID: parent[uid], BlockOwnerDeletion: &block}}
			}
			m[uid] = o
		}
		m.delete(m["o0"], foreground)
		for range 50 * n {
			uids := m.uids()
			if len(uids) == 0 {
				return
			}
			m.step(t, rapid.SampledFrom(uids).Draw(t, "next"))
			for child, owner := range parent {
				if _, there := m[child]; there && m[owner] == nil {
					t.Fatalf("%s went before %s, which blocks it", owner, child)
				}
			}
		}
		m.settle(t)
		if len(m) > 0 {
			t.Fatalf("left over: %v", m.uids())
		}
	})
}
