// Package job decides what happens to a Job. It is a function from what is seen to what shall be done:
//
//	Observation ── Decide ──▶ Decision
//	 the Job                   pods to adopt, let go, create, discard, delete
//	 its pods that matter      the next status
//	 the time                  finalizers that may go once that status is stored
//	 settings                  events and counts for metrics, when to look again
//
// Nothing in here talks to a server, reads a clock, or remembers anything between two calls: the same observation
// gives the same decision, in whatever order its pods are listed. The shell that observes and applies is
// internal/controller/job.
//
// A decision is made in four steps, each in its own file:
//
//	look   (view.go)         sort the pods: active, terminating, newly succeeded, newly failed
//	judge  (verdict.go)      ask the ordered rules whether the Job's end is settled
//	manage (parallelism.go)  too many pods, or too few? With enough successes and no pod left, the end is settled too
//	track  (tracking.go)     count every ended pod exactly once
//
// Each field of the Job's spec that changes a step has a file of its own name, and so has each annotation
// (annotations.go) that asks for what batch/v1 has no field for.
//
// Assess (assessment.go) looks, judges and plans with the same functions, and decides nothing. It returns what was found,
// for those who tell of a Job: internal/job/explain.
package job
