// Package loop is the frame of a controller around its decisions: event handlers, a queue of the objects to sync, and the
// newest version of an object and of its children, even where the informers are behind.
//
//	informers ──▶ Handler ──▶ Queue ──▶ workers: sync ──▶ answers of the server
//	     └────────────────────▶ Parents, Children ◀────────────────┘
package loop
