package scenario_test

import "slices"

// haveIndexes checks that the pods have these completion indexes.
func (l podList) haveIndexes(want ...int) {
	s := l.scene()
	s.Helper()
	var got []int
	for _, p := range l {
		got = append(got, indexOf(p.Pod))
	}
	if !slices.Equal(got, want) {
		s.Fatalf("the pods have the indexes %v, not %v", got, want)
	}
}

// areThe checks that these are the same pods.
func (l podList) areThe(want podList) {
	s := l.scene()
	s.Helper()
	if got, want := l.sortedNames(), want.sortedNames(); !slices.Equal(got, want) {
		s.Fatalf("the pods are %v, not %v", got, want)
	}
}

func (l podList) sortedNames() []string {
	var names []string
	for _, p := range l {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

// areNot checks that none of the pods is one of the others.
func (l podList) areNot(others podList) {
	s := l.scene()
	s.Helper()
	if len(l.without(others)) != len(l) {
		s.Fatalf("of the pods %v none should be one of %v", l.sortedNames(), others.sortedNames())
	}
}

// withIndex picks the one pod with this index.
func (l podList) withIndex(i int) podList {
	for n, p := range l {
		if indexOf(p.Pod) == i {
			return l[n : n+1]
		}
	}
	l.scene().Fatalf("no pod has index %d", i)
	return nil
}

// without returns the pods that are none of the others.
func (l podList) without(others podList) podList {
	return slices.DeleteFunc(slices.Clone(l), func(p pod) bool {
		return slices.ContainsFunc(others, func(o pod) bool { return o.UID == p.UID })
	})
}
