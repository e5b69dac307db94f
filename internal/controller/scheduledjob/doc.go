// Package scheduledjob runs ScheduledJobs: it observes them and their Jobs, lets internal/scheduledjob decide, and
// carries the decision out.
//
//	informers ──▶ children ─┐                  ┌─▶ Jobs created
//	     │    own writes ───┤                  ├─▶ status, once
//	     ▼                  ▼                  ├─▶ Jobs deleted, events, metrics
//	   queue ──▶ sync: Observation ─▶ Decide ──┴─▶ alarm, which puts the ScheduledJob back into the queue
//
// A decision is made on the newest status: on what the last write returned until the informer shows it, and on a live
// read before this process has written any. The name of a run's Job follows from its tag, so a Job that was created
// and whose status was lost is found, not made again.
package scheduledjob
