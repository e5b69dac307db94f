// Package scheduledjob decides what happens to a ScheduledJob: which runs are due, which start, wait or are skipped,
// what the status says of finished ones, and which of their Jobs are kept.
//
//	            a later one is due                            the Job finished or is gone
//	skipped ◄── (skipOutdated) ──┐                            (running.go)
//	   ▲                         │      its turn: the Job     ┌───────────────────┐
//	   │ suspended            ┌──┴────┐ is created  ┌─────────┴┐             ┌────▼──────┐  more than the history
//	  due ───────────────────►│pending├────────────►│ running  │             │ completed ├─────────► removed
//	(due.go)                  └─▲──┬──┘ (start.go)  └─▲────────┘             └────▲──────┘ (completed.go)
//	on demand ──────────────────┘  │                  │                           │
//	(malformed.go)                 └──────────────────┼── refused for ever ───────┘
//	                              a Job in no list ───┘ (find_started.go)
//
// A failed run may block the schedule (block.go): scheduled runs then wait in pending until a user resumes it.
//
// The package is pure: an Observation, which includes the time, goes in; a Decision comes out. Each run starts exactly
// once, even if applying a Decision fails halfway and another is made:
//
//   - the name of a run's Job follows from its tag, so that creating it twice creates one;
//   - the status is written after the Jobs are created: if that fails, the runs are found again by the names of their Jobs;
//   - status.lastScheduleTime, the cursor, moves with the lists in one write, and never back;
//   - a Job is deleted after its end is written.
//
// The status is built in a draft. Each part has one owner: executions the three lists, timetable the schedule and the
// cursor, conditions the conditions, and gate those two of them that hold scheduled runs back.
package scheduledjob
