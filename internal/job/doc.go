// Package job decides what happens to a Job. It is a function from what is observed to what is to be done:
//
//	Observation ── Decide ──▶ Decision
//	 the Job                   pods to adopt, release, create, delete
//	 its pods that matter      the next status
//	 the time                  finalizers to remove once that status is stored
//	 settings                  events, counts for metrics, when to requeue
//
// Nothing in here talks to a server, reads a clock, or keeps anything between two calls: the same observation
// gives the same decision, in any order of its pods. The shell that observes and applies is
// internal/controller/job.
//
// A decision is made in four steps, each in its own file:
//
//	view   (view.go)         sort the pods: active, terminating, newly succeeded, newly failed
//	judge  (verdict.go)      apply the ordered rules, which may give a verdict: how the Job will end
//	plan   (parallelism.go)  too many pods, or too few? Enough successes and no active pod are a verdict too
//	track  (tracking.go)     count every terminated pod exactly once
//
// Each field of the Job's spec that changes a step has a file of its own name, and so has each annotation
// (annotations.go) for a setting that batch/v1 has no field for.
//
// Assess (assessment.go) takes the first three steps with the same functions and returns what they found, instead of a
// decision. internal/job/explain makes explanations of it.
package job
