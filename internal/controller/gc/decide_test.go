package gc

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	background = metav1.DeletePropagationBackground
	foreground = metav1.DeletePropagationForeground
	orphan     = metav1.DeletePropagationOrphan
)

// owned returns owners "a", "b" … in these states.
func owned(states ...OwnerState) []Owner {
	var all []Owner
	for i, s := range states {
		all = append(all, Owner{UID: types.UID(rune('a' + i)), State: s})
	}
	return all
}

func TestDecide(t *testing.T) {
	cases := map[string]struct {
		given Observation
		want  Decision
	}{
		"an object without owners stays": {},
		"an object whose owner lives stays": {
			given: Observation{Owners: owned(Solid)},
		},
		"an object whose only owner is gone goes": {
			given: Observation{Owners: owned(Absent)},
			want:  Decision{Action: Delete, Propagation: background},
		},
		"an object whose owners are all gone goes": {
			given: Observation{Owners: owned(Absent, Absent), Dependents: true},
			want:  Decision{Action: Delete, Propagation: background},
		},
		"an object with one living owner forgets the one that is gone": {
			given: Observation{Owners: owned(Absent, Solid)},
			want:  Decision{Action: Release, Owners: []types.UID{"a"}},
		},
		"an object with one living owner does not hold up one that drains": {
			given: Observation{Owners: owned(Solid, Draining)},
			want:  Decision{Action: Release, Owners: []types.UID{"b"}},
		},
		"an owner of a kind that is not served keeps its object": {
			given: Observation{Owners: owned(Unverifiable)},
		},
		"an owner that nobody can verify keeps its object from going with the others": {
			given: Observation{Owners: owned(Unverifiable, Absent, Draining)},
			want:  Decision{Action: Release, Owners: []types.UID{"b", "c"}},
		},
		"the leaf below a draining owner goes at once": {
			given: Observation{Owners: owned(Draining)},
			want:  Decision{Action: Delete, Propagation: background},
		},
		"what has dependents below a draining owner drains itself": {
			given: Observation{Owners: owned(Draining), Dependents: true},
			want:  Decision{Action: Delete, Propagation: foreground},
		},
		"garbage with the orphan finalizer leaves its dependents": {
			given: Observation{Owners: owned(Absent), Orphan: true},
			want:  Decision{Action: Delete, Propagation: orphan},
		},
		"garbage with the foreground finalizer drains": {
			given: Observation{Owners: owned(Absent), Foreground: true},
			want:  Decision{Action: Delete, Propagation: foreground},
		},
		"what is being deleted is left alone": {
			given: Observation{Deleting: true, Owners: owned(Absent)},
		},
		"a dependent forgets an owner that leaves it behind": {
			given: Observation{Owners: owned(Orphaning)},
			want:  Decision{Action: Release, Owners: []types.UID{"a"}},
		},
		"a dependent forgets an owner that leaves it behind before its other owners count": {
			given: Observation{Owners: owned(Absent, Orphaning)},
			want:  Decision{Action: Release, Owners: []types.UID{"b"}},
		},
		"a dependent that is being deleted does not hold up an owner that leaves it behind": {
			given: Observation{Deleting: true, Owners: owned(Orphaning)},
			want:  Decision{Action: Release, Owners: []types.UID{"a"}},
		},
		"a draining owner waits while something blocks it": {
			given: Observation{State: Draining, Deleting: true, Foreground: true, Dependents: true, Blocked: true},
		},
		"a draining owner goes when nothing blocks it": {
			given: Observation{State: Draining, Deleting: true, Foreground: true, Dependents: true},
			want:  Decision{Action: Finalize, Finalizer: metav1.FinalizerDeleteDependents},
		},
		"an orphaning owner waits while something names it": {
			given: Observation{State: Orphaning, Deleting: true, Orphan: true, Dependents: true},
		},
		"an orphaning owner goes when nothing names it": {
			given: Observation{State: Orphaning, Deleting: true, Orphan: true},
			want:  Decision{Action: Finalize, Finalizer: metav1.FinalizerOrphanDependents},
		},
		"owners that wait for each other stop blocking each other": {
			given: Observation{State: Draining, Deleting: true, Foreground: true,
				Owners: owned(Draining), Dependents: true, Blocked: true, Cycle: true},
			want: Decision{Action: Unblock, Owners: []types.UID{"a"}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Decide(c.given)); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}
