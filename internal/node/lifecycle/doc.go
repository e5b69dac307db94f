// Package lifecycle decides what happens to a pod next.
//
// It is pure: Decide takes what is known about one pod (its spec, the attempts at its containers, the time) and returns
// what to start, what to stop, which status to report and when to decide again. It never asks a clock, a client or a
// runtime; the node (internal/node) applies its decisions.
//
//	         admitted                init containers done          every main container ended for good
//	waiting ───────────────▶ Pending ─────────────────────▶ Running ──────────────────────┐
//	   │                        │                              │                           ▼
//	   │ deleted, refused       │ init failed, deadline,       │ deadline, deleted,    sidecars stop,
//	   │                        │ deleted, lost                │ lost                  last one first
//	   ▼                        ▼                              ▼                           │
//	 Failed ◀──────── nothing runs any more ◀──── stop what runs, main containers first    ▼
//	                                                                            Succeeded or Failed
//
// A container is started when it runs, its postStart hook has ended and its startup probe has succeeded: what follows a sidecar
// waits for that. A container whose probe or postStart hook has failed is stopped, and may restart like any other. Before a
// container is told to stop, its preStop hook runs, within the grace period.
//
// Ephemeral containers are added to a pod while it runs. They start at once, whatever the others do, and their end means nothing
// to the pod.
//
// Invariants: a container has at most one running attempt; attempts are numbered upwards without gaps; a final phase is
// reported only when nothing of the pod runs and nothing will be started.
package lifecycle
