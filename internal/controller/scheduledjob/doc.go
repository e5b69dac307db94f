// Package scheduledjob runs ScheduledJobs: it observes them and their Jobs, lets internal/scheduledjob decide, and applies
// the decision.
//
//	informers ──▶ children ─┐                  ┌─▶ Jobs created
//	     │    own writes ───┤                  ├─▶ status, once
//	     ▼                  ▼                  ├─▶ metrics, events; then Jobs deleted
//	   queue ──▶ sync: Observation ─▶ Decide ──┴─▶ alarm, which puts the ScheduledJob back into the queue
//
// Each decision is made on the newest state: own writes count even before the informers show them (package loop), and before
// a process starts its first run of a ScheduledJob it gets the ScheduledJob live. The name of a run's Job follows from its
// tag: if the status write after its creation fails, the Job is found again, not created twice.
package scheduledjob
