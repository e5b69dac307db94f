package main

// creation are faults by which pods are made too soon, or too many.
var creation = []fault{
	{
		wrong: "A failed index gets its next pod without back-off.",
		file:  "internal/job/backoff_limit_per_index.go",
		old:   "return v.delayLeft(int(allFailuresBefore(last))+1, EndedAt(last))",
		new:   "return v.delayLeft(0, EndedAt(last))",
		tests: "./internal/job",
	},
	{
		wrong: "The last failed pod of an index loses its finalizer before the next one has its count of failures.",
		file:  "internal/job/tracking.go",
		old:   "return failed(v.job, p) && (v.NamespaceTerminating || v.lastFailedByIndex[IndexOf(p)] != p)",
		new:   "return failed(v.job, p)",
		tests: "./internal/job",
	},
	{
		wrong: "A Job's back-off does not grow with the failures in a row.",
		file:  "internal/job/delay.go",
		old:   "		delay *= 2\n",
		new:   "		delay += 0\n",
		tests: "./internal/job",
	},
	{
		wrong: "In the second of a success, each failed pod is replaced at once.",
		file:  "internal/job/delay.go",
		old:   "mayBeRetry := seen && h.isDecided",
		new:   "mayBeRetry := false",
		tests: "./internal/job",
	},
	{
		wrong: "The order in which the controller sees pods end is lost, so that a success does not reset the back-off in its second.",
		file:  "internal/controller/job/pod_cache.go",
		old:   "h.Observe(p)",
		new:   "h.Add(p)",
		tests: "./internal/controller/job/model",
	},
	{
		wrong: "Pods that were just created are created again, as they are not cached yet.",
		file:  "internal/controller/job/create.go",
		old:   "	c.podCache.ObserveWrite(job.UID, made)\n",
		new:   "",
		tests: "./internal/controller/job/model",
	},
	{
		wrong: "With podReplacementPolicy Failed a pod is replaced while it is still terminating.",
		file:  "internal/job/parallelism.go",
		old:   "missing -= len(v.terminating)",
		new:   "missing -= 0",
		tests: "./internal/job",
	},
	{
		wrong: "A pod that was just deleted counts as active until the deletion is cached.",
		file:  "internal/controller/job/apply.go",
		old:   "	c.podCache.Deleted(p.UID)\n",
		new:   "",
		tests: "./internal/controller/job/model",
	},
	{
		wrong: "A pod that vanished during a write comes back with the write's answer.",
		file:  "internal/controller/loop/children_observe.go",
		old:   " || f.dropped.Has(uid) {",
		new:   " {",
		tests: "./internal/controller/loop",
	},
	{
		wrong: "A pod that is shown as counted before its last write is answered is awaited, and the server asked for it.",
		file:  "internal/controller/loop/children_observe.go",
		old:   "		c.dropCached(parent, uid)\n	}\n	return cached, isNew\n",
		new:   "		c.drop(uid)\n	}\n	return cached, isNew\n",
		tests: "./internal/controller/loop",
	},
}
