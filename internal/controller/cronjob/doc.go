// Package cronjob runs CronJobs: it observes them and their Jobs, lets internal/cronjob decide, and carries the decision
// out.
//
//	informers ──▶ newest state ─┐                  ┌─▶ runs held, released, replaced; then decided anew
//	     │        own writes ───┤                  ├─▶ Job created
//	     ▼                      ▼                  ├─▶ status, once; then events, and old Jobs deleted
//	   queue ──▶ sync: Observation ─▶ Decide ──────┴─▶ alarm, which puts the CronJob back into the queue
//
// Whatever was written is seen by the next decision, whether the informers show it or not (memory.go), and before a
// process starts its first Job of a CronJob it reads it from the server. The name of a Job follows from its due time: one
// that was created and whose status was lost is found, not made again.
package cronjob
