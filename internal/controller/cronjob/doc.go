// Package cronjob runs CronJobs: it observes them and their Jobs, lets internal/cronjob decide, and applies the decision.
//
//	informers ──▶ newest state ─┐                  ┌─▶ runs suspended, resumed, replaced; then Decide again
//	     │        own writes ───┤                  ├─▶ Job created
//	     ▼                      ▼                  ├─▶ status, once; then events, and old Jobs deleted
//	   queue ──▶ sync: Observation ─▶ Decide ──────┴─▶ alarm, which puts the CronJob back into the queue
//
// Each decision is made on the newest state: own writes count even before the informers show them (package loop), and before
// a process starts its first Job of a CronJob it gets the CronJob live. The name of a Job follows from its due time: if
// the status write after its creation fails, the Job is found again, not created twice.
package cronjob
