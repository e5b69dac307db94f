package main

// counting are faults by which an ended pod is counted twice, or not at all.
var counting = []fault{
	{
		wrong: "A failed pod loses its finalizer and its UID is never listed in uncountedTerminatedPods.",
		file:  "internal/job/tracking.go",
		old:   "	t.uncounted.Failed = append(t.uncounted.Failed, p.UID)\n",
		new:   "",
		tests: "./internal/job",
	},
	{
		wrong: "A UID is counted and stays in uncountedTerminatedPods, to be counted again.",
		file:  "internal/job/tracking.go",
		old:   "return stay, int32(len(listed) - len(stay))",
		new:   "return listed, int32(len(listed) - len(stay))",
		tests: "./internal/job",
	},
	{
		wrong: "A UID leaves uncountedTerminatedPods while its pod still has the finalizer.",
		file:  "internal/job/tracking.go",
		old:   "		if v.tracked(p) {\n			held.Insert(p.UID)",
		new:   "		if v.tracked(p) && !Ended(p) {\n			held.Insert(p.UID)",
		tests: "./internal/job",
	},
	{
		wrong: "Finalizers are removed before the status is stored that lists their pods.",
		file:  "internal/controller/job/apply.go",
		old:   "	recorded := c.recording(ctx, job, pods)\n",
		new:   "	recorded := c.recording(ctx, job, pods)\n	_, _ = c.release(ctx, job, pods)\n",
		tests: "./internal/controller/job/model",
	},
	{
		wrong: "Finalizers are removed though the status that lists their pods has been put off.",
		file:  "internal/controller/job/apply.go",
		old:   "	if waits && patience == core.Holding {\n		return failed\n	}\n",
		new:   "",
		tests: "./internal/controller/job/model",
	},
	{
		wrong: "A new controller takes pods that are older than the status for newer, and counts them again.",
		file:  "internal/controller/job/observe.go",
		old:   "return loop.OlderVersion(c.pods.LastSyncResourceVersion(), status.ResourceVersion)",
		new:   "return loop.OlderVersion(c.pods.LastSyncResourceVersion(), \"1\")",
		tests: "./internal/controller/job/model",
	},
	{
		wrong: "A decision is made on the Job as the informer shows it, without the status that was just stored.",
		file:  "internal/controller/job/memory.go",
		old:   "return m.of(shown.UID).latest.Newest(shown)",
		new:   "return shown",
		tests: "./internal/controller/job/model",
	},
	{
		wrong: "An old answer of the server takes the place of a newer one.",
		file:  "internal/controller/loop/version.go",
		old:   "if l.answer == none || Older(l.answer, answer) {",
		new:   "if l.answer == none || l.answer != answer {",
		tests: "./internal/controller/loop",
	},
	{
		wrong: "The pod failure policy's Ignore counts against the backoffLimit all the same.",
		file:  "internal/job/pod_failure_policy.go",
		old:   "return j.action != batchv1.PodFailurePolicyActionIgnore",
		new:   "return j.action != \"\" || j.message == \"\"",
		tests: "./internal/job",
	},
	{
		wrong: "A pod that fails its index fails the next one.",
		file:  "internal/job/backoff_limit_per_index.go",
		old:   "spent = append(spent, IndexOf(p))",
		new:   "spent = append(spent, IndexOf(p)+1)",
		tests: "./internal/job",
	},
	{
		wrong: "In completedIndexes an interval loses its end to a shorter one within it.",
		file:  "internal/job/indexes.go",
		old:   "joined[n-1].Last = max(joined[n-1].Last, iv.Last)",
		new:   "joined[n-1].Last = iv.Last",
		tests: "./internal/job",
	},
}
