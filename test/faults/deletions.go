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
		wrong: "The pod garbage collector deletes a pod that its Job has not counted.",
		file:  "internal/controller/podgc/decide.go",
		old:   "podstatus.IsTerminated(p) && !jobcore.HasFinalizer(p) &&",
		new:   "podstatus.IsTerminated(p) && jobcore.HasFinalizer != nil &&",
		tests: "./internal/controller/podgc",
	},
	{
		wrong: "The pod garbage collector deletes a pod whose node was registered anew and is not cached yet.",
		file:  "internal/controller/podgc/podgc.go",
		old:   "		if !apierrors.IsNotFound(err) {\n			return p, Keep, err",
		new:   "		if !apierrors.IsNotFound(err) && err != nil {\n			return p, Keep, err",
		tests: "./internal/controller/podgc -run ^TestANodeThatIsNotCachedKeepsItsPods$",
	},
	{
		wrong: "A succeeded pod goes with its tracking finalizer though another finalizer keeps it.",
		file:  "internal/job/terminated_pods_limit.go",
		old:   "len(p.Finalizers) == 1 && ",
		new:   "",
		tests: "./internal/job -run ^TestSucceededPodsBeyondTheLimitGoWithTheirFinalizer$",
	},
	{
		wrong: "An object is deleted with its last finalizer though it has got another one that the caller does not know of.",
		file:  "internal/apiserver/inprocess/remove.go",
		old:   "		if len(has) == 1 && has[0] == finalizer {\n",
		new:   "		if len(has) >= 0 {\n",
		tests: "./internal/apiserver/inprocess -run ^TestAnObjectStaysUnlessTheFinalizerIsItsOnlyOne$",
	},
	{
		wrong: "Succeeded pods are deleted while there is room for them.",
		file:  "internal/job/terminated_pods_limit.go",
		old:   "return n.Total >= limit && ",
		new:   "return ",
		tests: "./internal/controller/job/model",
	},
	{
		wrong: "A pod that is gone counts as left, and another one is deleted for it.",
		file:  "internal/controller/job/apply.go",
		old:   "		c.left.remove(job.UID, p.UID)\n		return nil\n",
		new:   "		return nil\n",
		tests: "./internal/controller/job/model -run ^TestAPodThatIsGoneTakesNoRoom$",
	},
	{
		wrong: "A sync that failed is not retried.",
		file:  "internal/controller/loop/queue.go",
		old:   "		q.AddRateLimited(key)\n",
		new:   "",
		tests: "./internal/controller/loop",
	},
}
