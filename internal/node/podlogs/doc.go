// Package podlogs owns what the containers of a node's pods have printed: where it is, who reads it, and how long it stays.
//
//	logs/<namespace>_<pod>_<uid>/<container>/<n>.log    of attempt n, until a moment after the pod is deleted, or longer: see Keeper
//	logs/<namespace>_<pod>_<uid>/<container>/trimmed    up to which attempt the container's logs were removed: see Store.TrimStarts
//	logs/<namespace>_<pod>_<uid>/kept.json              whose logs these are, once the pod is deleted
//	logs/dropped                                        up to which end of pods logs were dropped, because they were too many
//
// Store reads, with a node or without one. Keeper decides what of deleted pods stays, and removes the rest. Package logs
// reads the files themselves; the runtime writes them.
package podlogs
