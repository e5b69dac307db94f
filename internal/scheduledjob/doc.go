// Package scheduledjob decides what happens to a ScheduledJob: which runs are due, which start, wait or are skipped,
// what is known of those that ended, and which of their Jobs are kept.
//
//	            a later one is due                            the Job ended, or is gone
//	skipped ◄── (skipOutdated) ──┐                            (running.go)
//	   ▲                         │      its turn: the Job     ┌───────────────────┐
//	   │ suspended            ┌──┴────┐ is created  ┌─────────┴┐             ┌────▼──────┐  more than the history
//	  due ───────────────────►│pending├────────────►│ running  │             │ completed ├─────────► forgotten
//	(due.go)                  └─▲──┬──┘ (start.go)  └─▲────────┘             └────▲──────┘ (completed.go)
//	on demand ──────────────────┘  │                  │                           │
//	(malformed.go)                 └──────────────────┼── refused for ever ───────┘
//	                              a Job in no list ───┘ (find_started.go)
//
// A failed run may block the schedule (block.go): scheduled runs then wait in pending until a person resumes it.
//
// It is pure: what is observed, and the time, go in; a Decision comes out. Whatever is lost after that, deciding again
// leads to each run exactly once:
//
//   - the name of a run's Job follows from its tag, so that creating it twice creates one;
//   - the status is written after the Jobs are created: what it would have said is found again by their names;
//   - status.lastScheduleTime, the cursor, moves with the lists in one write, and never back;
//   - a Job is deleted after its end is written.
//
// The status is made in a draft, each part of it by its owner: the three lists (executions), the schedule and the cursor
// (timetable), the conditions, of which the gate has those that hold scheduled runs back.
package scheduledjob
