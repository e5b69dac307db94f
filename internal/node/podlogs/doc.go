// Package podlogs manages what the containers of a node's pods have printed: where it is, how it is read, and how long
// it stays.
//
//	logs/<namespace>_<pod>_<uid>/<container>/<n>.log    of attempt n, until some seconds after the pod is deleted, or longer: see Retention
//	logs/<namespace>_<pod>_<uid>/<container>/trimmed    up to which attempt the container's logs were removed: see Store.TrimStarts
//	logs/<namespace>_<pod>_<uid>/kept.json              the Job that the logs belong to, once the pod is deleted
//	logs/dropped                                        logs of pods that terminated up to this time were removed, as there were too many
//
// Store reads, with a running node or without one. Retention decides which logs of deleted pods stay, and removes the
// rest. Package logs reads the files themselves; the runtime writes them.
package podlogs
