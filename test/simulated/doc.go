// Package simulated is an API server for model tests of controllers: everything that can go wrong between a controller
// and its server happens when the test wants it to.
//
//	Table ── versions, preconditions, finalizers, like a real server; one thing at a time
//	  │ log of all changes
//	  ▼
//	Informer ── the cache of a process; it gets changes as late as the test wants, repeated, or by a list after a broken watch
//	Process ── one run of a controller; its requests wait until World serves them, with or without a Fault
//
// It runs inside testing/synctest: World.Pause lets all goroutines run until they wait for the test. A failure
// ends the history with a panic of World.Fail, whose message lists all that happened.
package simulated
