package main

// endings are faults in how a Job ends and in what remains of it.
var endings = []fault{
	{
		wrong: "A Job is Complete while its pods still have finalizers.",
		file:  "internal/job/status.go",
		old:   "if !noLivingPods(v) || listed > 0 || hasTrackedPods(v) {",
		new:   "if !noLivingPods(v) || listed > 0 {",
		tests: "./internal/job",
	},
	{
		wrong: "A finalizer is removed though the pod's result could not be stored.",
		file:  "internal/controller/job/apply.go",
		old:   "	err := recorded(true)\n",
		new:   "	err := recorded(true)\n	err = nil\n",
		tests: "./internal/controller/job/model",
	},
	{
		wrong: "An explanation ignores a verdict that is not stored yet.",
		file:  "internal/job/assessment.go",
		old:   "	end, plan := conclude(v)\n",
		new:   "	end, plan := storedVerdict(v), manage(v, nil)\n",
		tests: "./internal/job",
	},
	{
		wrong: "An explanation names a delay after failures while the server refuses new pods.",
		file:  "internal/job/explain/waits.go",
		old:   "add(t.delay.applies() && !t.refusal.isDelayed(), t.delay.waits)",
		new:   "add(t.delay.applies(), t.delay.waits)",
		tests: "./internal/job/explain",
	},
	{
		wrong: "An older report of a pod replaces its end.",
		file:  "internal/results/append.go",
		old:   "if supersedes(&r, was) {",
		new:   "if !supersedes(was, &r) || r.UID == was.UID {",
		tests: "./internal/results",
	},
	{
		wrong: "A Job shows the results of an earlier one of its name.",
		file:  "internal/results/merge.go",
		old:   "		if !metav1.IsControlledBy(s, job) {\n",
		new:   "		if metav1.GetControllerOf(s) == nil {\n",
		tests: "./internal/results",
	},
}

// starts are faults in the start time of a Job.
var starts = []fault{
	{
		wrong: "A Job that is resumed keeps its old startTime, so that its deadline includes the suspension.",
		file:  "internal/job/deadline.go",
		old:   "	case wasSuspended(v.job):\n		return &now\n",
		new:   "",
		tests: "./internal/job",
	},
	{
		wrong: "A suspended Job keeps its startTime.",
		file:  "internal/job/suspend.go",
		old:   "		s.status.StartTime = nil\n",
		new:   "",
		tests: "./internal/job",
	},
}
