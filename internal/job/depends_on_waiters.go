package job

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// DependencyGraph tells which Jobs wait for which.
type DependencyGraph struct {
	// dependencies are the names that a Job waits for, by the Jobs that wait for one.
	dependencies map[types.NamespacedName][]string
	by           map[types.NamespacedName]sets.Set[types.NamespacedName]
}

// NewDependencyGraph knows of none.
func NewDependencyGraph() *DependencyGraph {
	return &DependencyGraph{dependencies: map[types.NamespacedName][]string{}, by: map[types.NamespacedName]sets.Set[types.NamespacedName]{}}
}

// Set takes in the names that job waits for now.
func (w *DependencyGraph) Set(job types.NamespacedName, awaits []string) {
	for _, name := range w.dependencies[job] {
		awaited := types.NamespacedName{Namespace: job.Namespace, Name: name}
		if w.by[awaited].Delete(job); len(w.by[awaited]) == 0 {
			delete(w.by, awaited)
		}
	}
	delete(w.dependencies, job)
	for _, name := range awaits {
		awaited := types.NamespacedName{Namespace: job.Namespace, Name: name}
		if w.by[awaited] == nil {
			w.by[awaited] = sets.New[types.NamespacedName]()
		}
		w.by[awaited].Insert(job)
		w.dependencies[job] = awaits
	}
}

// Of returns the Jobs that wait for one.
func (w *DependencyGraph) Of(awaited types.NamespacedName) []types.NamespacedName {
	return w.by[awaited].UnsortedList()
}

// Len is how many Jobs wait.
func (w *DependencyGraph) Len() int { return len(w.dependencies) }

// Cycle returns a shortest way on which job, which waits for the one called next, waits for itself: names, its own first and
// last. It is nil if there is none.
func (w *DependencyGraph) Cycle(job types.NamespacedName, next string) []string {
	if next != job.Name && len(w.by[job]) == 0 {
		return nil // nobody waits for it
	}
	return Cycle(job.Name, func(name string) []string {
		if name == job.Name {
			return []string{next}
		}
		return w.dependencies[types.NamespacedName{Namespace: job.Namespace, Name: name}]
	})
}
