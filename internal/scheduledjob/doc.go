// Package scheduledjob decides what happens to a ScheduledJob: which runs are due, which start, wait or are skipped,
// what is known of those that ended, and which of their Jobs are kept.
//
//	due ──► pending ──► running ──► completed
//	         ▲  └─► skipped
//	on demand┘
//
// It is pure: what is observed, and the time, go in; a Decision comes out. The name of a run's Job follows from its tag,
// so that deciding the same twice makes one Job.
package scheduledjob
