// Package cronjob decides what happens to a CronJob: which due time starts a Job now, which runs wait for others or are
// replaced by them, what its status says, and which of its ended Jobs are kept.
//
//	due ───────────────► running ──► ended ──► kept or deleted
//	on demand ──► held ────┘
//
// A run is a Job that was created for a due time, or one that a user created from the CronJob (kubectl create job --from).
// Both obey the concurrency policy.
//
// The package is pure: an Observation, which includes the time, goes in; a Decision comes out. The name of a Job follows
// from its due time, so that deciding the same twice creates one Job.
package cronjob
