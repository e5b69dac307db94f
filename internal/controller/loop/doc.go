// Package loop is what controllers have around their decisions: handlers that are told of changes, a queue of what is to
// be looked at, and the newest version of an object, whatever the informers show.
//
//	informers ──▶ Handler ──▶ Queue ──▶ workers: sync ──▶ answers of the server
//	     └──────────────────────────────▶ Latest ◀─────────────────┘
package loop
