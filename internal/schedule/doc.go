// Package schedule reads schedules and computes when they are due: cron expressions and the repeating intervals of
// ISO 8601.
//
//	text ──Parse──► Spec ──In(zone, since)──► Schedule ──► Next, Due, Count
//
// Everything is computed from the anchor, the zone and the question, never from what was asked before: due times do not
// drift, and it does not matter who asks or how often. Due times are whole seconds, up to the end of the year 9999.
//
// Where the clocks of a zone are changed, cron and intervals differ. A cron expression describes what clocks show: what
// they do not show is not due, what they show twice is due twice, as in Kubernetes. An interval counts days: each has
// its due time. See wall.instant for which one that is.
package schedule
