// Package results tells what came of a Job's pods, and keeps it when they are gone.
//
// The Job controller puts the result of each pod into a slice, an object that the Job owns, before the pod may go. Who
// asks for the results gets those of the slices and those of the pods that are still there in one:
//
//	pod ended ──Of──► PodResult ──Append──► ResultSlice ─┐
//	                                                     ├─Merge──► JobResults
//	pods that are there ──Of─────────────────────────────┘
//
// All of it is values in, values out.
package results
