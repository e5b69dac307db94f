package main

// schedules are faults by which a due time gets two runs, or none.
var schedules = []fault{
	{
		wrong: "A Job that another client made under the name of a run is taken for the run.",
		file:  "internal/controller/cronjob/apply.go",
		old:   "	if metav1.IsControlledBy(found, cj) {\n",
		new:   "	if metav1.GetControllerOf(found) == nil || metav1.IsControlledBy(found, cj) {\n",
		tests: "./internal/controller/cronjob/model",
	},
	{
		wrong: "A new controller starts a run a second time, as a newer version of its CronJob is stored but not cached.",
		file:  "internal/controller/cronjob/sync.go",
		old:   "case (first || d.Start != nil) && !confirmed:",
		new:   "case first && !confirmed:",
		tests: "./internal/controller/cronjob/model",
	},
	{
		wrong: "The statuses of schedules that are due at once delay the Jobs of others.",
		file:  "internal/controller/cronjob/sync.go",
		old:   "len(d.Events) == 0 && c.loop.Queue.Len() > 0",
		new:   "len(d.Events) > 0 && c.loop.Queue.Len() > 0",
		tests: "./internal/controller/cronjob -run ^TestOfManyThatAreDueNoJobWaitsForTheStatusOfAnother$",
	},
	{
		wrong: "Forbid considers only the Jobs that status.active lists already.",
		file:  "internal/cronjob/due.go",
		old:   "if len(v.running)+len(v.held) > 0 {",
		new:   "if len(v.cronJob.Status.Active) > 0 {",
		tests: "./internal/cronjob",
	},
	{
		wrong: "A missing lastScheduleTime is not set from the Jobs that exist.",
		file:  "internal/cronjob/status.go",
		old:   "scheduled && later(&t, d.status.LastScheduleTime) {",
		new:   "scheduled && d.status.LastScheduleTime != nil && later(&t, d.status.LastScheduleTime) {",
		tests: "./internal/cronjob",
	},
	{
		wrong: "skippedCount does not grow by the runs that are skipped.",
		file:  "internal/scheduledjob/skip_outdated.go",
		old:   "	s.skippedCount += gone.n\n",
		new:   "",
		tests: "./internal/scheduledjob",
	},
	{
		wrong: "A run whose Job exists already counts as failed to start.",
		file:  "internal/controller/scheduledjob/create.go",
		old:   "		if metav1.IsControlledBy(found, sj) {\n",
		new:   "		if metav1.IsControlledBy(found, sj) && found.UID == job.UID {\n",
		tests: "./internal/controller/scheduledjob/model",
	},
	{
		wrong: "A Job whose creation got no answer is not looked for, so that its run starts again or is skipped.",
		file:  "internal/scheduledjob/find_started.go",
		old:   "if e.Reason == ReasonFailedCreate {",
		new:   "if e.Reason == ReasonFailedCreate && e.JobName != \"\" {",
		tests: "./internal/scheduledjob",
	},
}
