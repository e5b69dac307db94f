// Package resultslice stores what came of a Job's pods in ResultSlices, before the pods lose their finalizers and may go.
//
//	pods that ended ─▶ Store.Record ─▶ server: does it take ResultSlices? ─▶ sequence: the slices of the Job
//	     later: how they ended ─▶ Store.NoteEnd ─▶ ends ─▶ the next Record
//
// A result is stored once, whichever write fails and whenever the controller dies. The pods hold their finalizers until
// theirs is stored, so the next controller sees them again, and looks into the slices that are there before it adds any.
package resultslice
