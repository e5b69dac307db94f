// Package job runs Jobs: it observes them and their pods, lets internal/job decide, and applies the decision.
//
//	informers ─▶ pod cache ─┐                  ┌─▶ pods created, deleted
//	     │    own writes ───┤                  ├─▶ status
//	     ▼                  ▼                  ├─▶ finalizers removed
//	   queue ─▶ sync: Observation ─▶ Decide ─▶ apply ─▶ events, metrics
//
// The pod cache (pod_cache.go) keeps, for each Job, the pods that still matter, so the cost of a sync depends on how
// many are active and not on how many there ever were. The answer to a write goes into the cache at once: the next
// decision sees it even if the informer does not show it yet, so no pod is created twice because the informer lags.
package job
