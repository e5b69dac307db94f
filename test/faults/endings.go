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
		wrong: "How a pod terminated that was counted before is not stored.",
		file:  "internal/controller/job/resultslice/store.go",
		old:   "append(s.resultsOf(pods), r.podEnds.take()...)",
		new:   "append(s.resultsOf(pods), r.podEnds.take()[:0]...)",
		tests: "./internal/controller/job/model -run ^TestAPodThatIsCountedBeforeItTerminatesKeepsItsExitCode$",
	},
	{
		wrong: "A pod that an earlier controller listed is stored as it is cached, running.",
		file:  "internal/controller/job/external_status.go",
		old:   "len(core.Listed(job))+len(",
		new:   "len(",
		tests: "./internal/controller/job/model -run ^TestAListedPodThatIsCachedAsRunningIsStoredAsTheServerHasIt$",
	},
	{
		wrong: "A pod that is live and not cached yet is forgotten, and the Job fails without it.",
		file:  "internal/controller/job/external_status.go",
		old:   "metav1.IsControlledBy(p, job) && (core.IsRelevant(p) || !c.isCached(p))",
		new:   "slices.Contains(core.Listed(job), p.UID)",
		tests: "./internal/controller/job/model -run ^TestAPodThatOnlyALiveListShowsIsDeletedIfItIsNotNeeded$",
	},
	{
		wrong: "The first results of a Job are stored before its status, and again by the next controller.",
		file:  "internal/controller/job/resultslice/store.go",
		old:   "	if len(pods) == 0 || !s.of(job.UID).sequence.known {\n",
		new:   "	if len(pods) == 0 {\n",
		tests: "./internal/controller/job/model -run ^TestAResultIsNotWrittenAgain$",
	},
	{
		wrong: "Results that an earlier controller stored beyond the limit stay.",
		file:  "internal/controller/job/resultslice/store.go",
		old:   "	if r.sequence.size() <= s.max && (r.sequence.known || !mayHaveResults(job)) {\n",
		new:   "	if r.sequence.size() <= s.max {\n",
		tests: "./internal/controller/job/resultslice",
	},
	{
		wrong: "Every pod of a Job is remembered until the Job has finished.",
		file:  "internal/controller/job/resultslice/store.go",
		old:   "	r.written = nil\n",
		new:   "",
		tests: "./internal/controller/job/resultslice",
	},
	{
		wrong: "An explanation ignores a verdict that is not stored yet.",
		file:  "internal/job/assessment.go",
		old:   "	end, plan := conclude(v)\n",
		new:   "	end, plan := storedVerdict(v), planPods(v, nil)\n",
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
		old:   "		if metav1.IsControlledBy(&all[i], job) {\n",
		new:   "		if metav1.GetControllerOf(&all[i]) != nil {\n",
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
