// Package namespace deletes the contents of namespaces that are being deleted.
//
// A deletion only marks a namespace: it is Terminating while spec.finalizers names "kubernetes". The ContentDeleter deletes
// pods first, with their grace period, so that a process does not lose its ConfigMaps and Secrets while it runs. It reports
// in the namespace's conditions what is left, and removes the finalizer when nothing is left.
//
//	Terminating ──► delete the pods ──► delete all else ──► a live list shows nothing ──► remove the finalizer
//	                     │ ▲                  │ ▲
//	                     └─┘     requeued     └─┘
//
// Decide and Conditions compute what to delete and what to report; content_deleter.go is the shell.
package namespace
