package gc_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/test/await"
)

// Random owners, deleted in random ways, several times and at once. In the end no deletion waits, no object names an owner
// that is gone, and an object exists unless it or one of its owners was deleted.
func TestAnyFamilyComesToRest(t *testing.T) {
	w := start(t)
	for seed := range uint64(25) {
		f := family{world: w, rand: rand.New(rand.NewPCG(seed, 0)), prefix: fmt.Sprintf("f%d-", seed), deleted: map[string]bool{}}
		f.grow()
		f.shrink()
		f.release()
		f.rests(seed)
	}
}

type family struct {
	*world
	rand    *rand.Rand
	prefix  string
	members []*corev1.ConfigMap
	deleted map[string]bool
}

func (f *family) grow() {
	for i := range 3 + f.rand.IntN(8) {
		var owners []metav1.OwnerReference
		for _, at := range f.rand.Perm(i)[:f.rand.IntN(min(i, 2)+1)] {
			ref := by(f.members[at])
			if f.rand.IntN(4) > 0 {
				ref = blocking(ref)
			}
			owners = append(owners, ref)
		}
		member := f.configMap(fmt.Sprint(f.prefix, i), owners...)
		f.members = append(f.members, member)
		if f.rand.IntN(3) == 0 {
			f.modify(member, func(cm *corev1.ConfigMap) { cm.Finalizers = append(cm.Finalizers, "example.com/hold") })
		}
	}
	if f.rand.IntN(3) > 0 {
		return
	}
	// A cycle: the first is owned by the last.
	last := by(f.members[len(f.members)-1])
	f.modify(f.members[0], func(cm *corev1.ConfigMap) { cm.OwnerReferences = append(cm.OwnerReferences, blocking(last)) })
}

func (f *family) modify(member *corev1.ConfigMap, change func(*corev1.ConfigMap)) {
	f.Helper()
	if _, err := f.direct.ConfigMaps().Modify(context.Background(), member, change); err != nil && !apierrors.IsNotFound(err) {
		f.Fatal(err)
	}
}

// release removes the finalizers of another controller, which have held up some deletions.
func (f *family) release() {
	f.collects()
	for _, member := range f.members {
		f.modify(member, func(cm *corev1.ConfigMap) {
			cm.Finalizers = slices.DeleteFunc(slices.Clone(cm.Finalizers), func(name string) bool { return name == "example.com/hold" })
		})
	}
}

func (f *family) shrink() {
	policies := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}
	name := f.members[0].Name
	for range 2 + f.rand.IntN(4) {
		if f.rand.IntN(2) == 0 {
			f.collects() // The deletions before have begun.
		}
		if f.rand.IntN(2) == 0 { // Otherwise the same object is deleted again, perhaps with another policy.
			name = f.members[f.rand.IntN(len(f.members))].Name
		}
		how := policies[f.rand.IntN(len(policies))]
		err := f.CoreV1().ConfigMaps("default").Delete(context.Background(), name, metav1.DeleteOptions{PropagationPolicy: &how})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			f.Fatal(err)
		}
		f.deleted[name] = true
	}
}

// rests waits until unrest finds nothing, or fails with what it finds.
func (f *family) rests(seed uint64) {
	f.Helper()
	why := "nobody has looked"
	defer func() {
		if why != "" {
			f.Errorf("seed %d: %s", seed, why)
		}
	}()
	await.Until(f, "the family has come to rest", func() bool {
		why = f.unrest()
		return why == ""
	})
}

func (f *family) unrest() string {
	list, err := f.CoreV1().ConfigMaps("default").List(f.Context(), metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	there := map[string]*corev1.ConfigMap{}
	for i := range list.Items {
		if strings.HasPrefix(list.Items[i].Name, f.prefix) {
			there[list.Items[i].Name] = &list.Items[i]
		}
	}
	for name, cm := range there {
		if cm.DeletionTimestamp != nil {
			return fmt.Sprintf("%s is still being deleted, with %v", name, cm.Finalizers)
		}
		for _, ref := range cm.OwnerReferences {
			if there[ref.Name] == nil {
				return fmt.Sprintf("%s names %s, which is gone", name, ref.Name)
			}
		}
	}
	for _, cm := range f.members {
		if there[cm.Name] == nil && !f.deleted[cm.Name] && len(cm.OwnerReferences) == 0 && cm != f.members[0] {
			return fmt.Sprintf("%s is gone, though nobody owned or deleted it", cm.Name)
		}
	}
	return ""
}
