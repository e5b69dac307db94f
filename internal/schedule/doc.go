// Package schedule parses schedules and computes when they are due: cron expressions and the repeating intervals of
// ISO 8601.
//
//	text ──Parse──► Spec ──In(zone, since)──► Schedule ──► Next, Due, Count
//
// Every answer is computed from the beginning, the zone and the arguments, never from earlier answers: due times do not
// drift, however often they are computed. Due times are whole seconds, up to the end of the year 9999.
//
// When the clocks of a zone change, cron and intervals differ. A cron expression describes what clocks show: a time that
// they skip is not due, a time that they show twice is due twice, as in Kubernetes. An interval of days is due once on
// each day; wallClock.instant says when, if clocks skip the time or show it twice.
package schedule
