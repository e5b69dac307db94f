// Package cronjob decides what happens to a CronJob: which due time starts a Job now, which runs wait for others or are
// replaced by them, what its status says, and which of its ended Jobs are kept.
//
//	due ───────────────► running ──► ended ──► kept or deleted
//	on demand ──► held ────┘
//
// A run is a Job that was started for a due time, or one that a person made of the CronJob (kubectl create job --from).
// Both obey the concurrency policy.
//
// It is pure: what is observed, and the time, go in; a Decision comes out. The name of a Job follows from its due time,
// so that deciding the same twice makes one Job.
package cronjob
