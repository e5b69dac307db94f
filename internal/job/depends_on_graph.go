package job

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// DependencyGraph records which Jobs wait for which.
type DependencyGraph struct {
	// dependencies are the names of the Jobs that a Job waits for, by the Job that waits.
	dependencies map[types.NamespacedName][]string
	// waiters are the Jobs that wait for a Job, by the Job that they wait for.
	waiters map[types.NamespacedName]sets.Set[types.NamespacedName]
}

// NewDependencyGraph returns an empty graph.
func NewDependencyGraph() *DependencyGraph {
	return &DependencyGraph{dependencies: map[types.NamespacedName][]string{}, waiters: map[types.NamespacedName]sets.Set[types.NamespacedName]{}}
}

// Set replaces the names of the Jobs that job waits for.
func (g *DependencyGraph) Set(job types.NamespacedName, awaits []string) {
	for _, name := range g.dependencies[job] {
		awaited := types.NamespacedName{Namespace: job.Namespace, Name: name}
		if g.waiters[awaited].Delete(job); len(g.waiters[awaited]) == 0 {
			delete(g.waiters, awaited)
		}
	}
	delete(g.dependencies, job)
	for _, name := range awaits {
		awaited := types.NamespacedName{Namespace: job.Namespace, Name: name}
		if g.waiters[awaited] == nil {
			g.waiters[awaited] = sets.New[types.NamespacedName]()
		}
		g.waiters[awaited].Insert(job)
		g.dependencies[job] = awaits
	}
}

// WaitersOf returns the Jobs that wait for awaited.
func (g *DependencyGraph) WaitersOf(awaited types.NamespacedName) []types.NamespacedName {
	return g.waiters[awaited].UnsortedList()
}

// Len is how many Jobs wait.
func (g *DependencyGraph) Len() int { return len(g.dependencies) }

// Cycle returns a shortest cycle by which job waits for itself through the Job next: the names, its own first and last. It
// is nil if there is none.
func (g *DependencyGraph) Cycle(job types.NamespacedName, next string) []string {
	if next != job.Name && len(g.waiters[job]) == 0 {
		return nil // no Job waits for it
	}
	return Cycle(job.Name, func(name string) []string {
		if name == job.Name {
			return []string{next}
		}
		return g.dependencies[types.NamespacedName{Namespace: job.Namespace, Name: name}]
	})
}
