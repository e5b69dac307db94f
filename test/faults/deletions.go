package main

// deletions are faults by which something is deleted that should stay, or stays that should go.
var deletions = []fault{
	{
		wrong: "The garbage collector deletes a dependent of which one owner is gone and another lives.",
		file:  "internal/controller/gc/decide.go",
		old:   "if len(o.owners(Solid, Unverifiable)) == 0 {",
		new:   "if len(o.owners(Absent)) > 0 || len(o.owners(Solid, Unverifiable)) == 0 {",
		tests: "./internal/controller/gc -run ^TestDecide$",
	},
	{
		wrong: "An owner is deleted before the owner references to it are removed from the dependents that are to stay.",
		file:  "internal/controller/gc/decide.go",
		old:   "o.State == Orphaning && !o.Dependents",
		new:   "o.State == Orphaning",
		tests: "./internal/controller/gc -run ^(TestDecide|TestOrphansStay)$",
	},
	{
		wrong: "A Job is deleted at its expiry though its time to live has been changed since it was read.",
		file:  "internal/controller/ttl/ttl.go",
		old:   "Propagation: metav1.DeletePropagationForeground, Unchanged: true}",
		new:   "Propagation: metav1.DeletePropagationForeground}",
		tests: "./internal/controller/ttl -run ^TestWhatHappensWhileAJobIsAboutToBeDeleted$",
	},
	{
		wrong: "A failed pod that was deleted counts as left until the deletion is cached, and an older one is deleted for it.",
		file:  "internal/controller/job/pod_cache.go",
		old:   "if !child.Deleted && x.isLimited(obs.Job.UID, child.Newest) {",
		new:   "if x.isLimited(obs.Job.UID, child.Newest) {",
		tests: "./internal/controller/job -run ^TestARemovedPodIsNotLeft$",
	},
	{
		wrong: "A failed pod beyond the limit stays if it is cached before its Job, and the Job without its failures.",
		file:  "internal/controller/job/handlers.go",
		old:   "	c.observeFirstFailure(was, is)\n",
		new:   "",
		tests: "./internal/controller/job/model -run ^TestAFailedPodThatIsCachedBeforeItsJobGoes$",
	},
	{
		wrong: "A sync that failed is not retried.",
		file:  "internal/controller/loop/queue.go",
		old:   "		q.AddRateLimited(key)\n",
		new:   "",
		tests: "./internal/controller/loop",
	},
}
