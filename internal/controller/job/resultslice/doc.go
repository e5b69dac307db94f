// Package resultslice stores the results of a Job's pods in ResultSlices, before the pods lose their finalizers and can be
// removed.
//
//	pods to count ─▶ Store.Record ─▶ server: does it accept ResultSlices? ─▶ sequence: the slices of the Job
//	pods that terminate after that ─▶ Store.NoteEnd ─▶ podEnds ─▶ the next Record
//
// A result is stored once, whichever write fails and whenever the controller dies. A pod keeps its finalizer until its
// result is stored. So the next controller sees the pod again, and it reads the existing slices before it adds a result.
package resultslice
