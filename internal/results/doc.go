// Package results computes the results of a Job's pods, which are kept when the pods are gone.
//
// The Job controller stores the result of each pod in a ResultSlice, an object that the Job owns, before it removes the
// pod's finalizer. A request for the results returns those of the slices merged with those of the existing pods:
//
//	terminated pod ──Of──► PodResult ──Append──► ResultSlice ─┐
//	                                                          ├─Merge──► JobResults
//	existing pods ──Of────────────────────────────────────────┘
//
// The package only computes: values in, values out.
package results
