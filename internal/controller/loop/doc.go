// Package loop is what controllers have around their decisions: handlers that are called for changes, a queue of the
// objects to sync, and the newest version of an object and of its children, whatever the informers show.
//
//	informers ──▶ Handler ──▶ Queue ──▶ workers: sync ──▶ answers of the server
//	     └────────────────────▶ Parents, Children ◀────────────────┘
package loop
