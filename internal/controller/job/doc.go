// Package job runs Jobs: it observes them and their pods, lets internal/job decide, and carries the decision out.
//
//	informers ─▶ pod index ─┐                  ┌─▶ pods created, removed
//	     │    own writes ───┤                  ├─▶ status
//	     ▼                  ▼                  ├─▶ finalizers released
//	   queue ─▶ sync: Observation ─▶ Decide ─▶ apply ─▶ events, metrics
//
// The pod index (index.go) keeps, for each Job, the pods that still matter, so the cost of a sync depends on what is
// active and not on how many pods there ever were. What a write returns goes into the index at once: the next decision
// sees it whether the informer has shown it or not, and no pod is created twice because a cache was late.
package job
