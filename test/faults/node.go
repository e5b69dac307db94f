package main

// onTheNode are faults in what a node reports of a pod, and in what a pod runs with.
var onTheNode = []fault{
	{
		wrong: "A directory of the host process is the working directory of a container.",
		file:  "internal/node/process/sandbox/image_child.go",
		old:   "	c.CloseFrom(firstOther)\n",
		new:   "",
		tests: "./internal/node/process -run ^TestAWorkingDirectoryIsNoDescriptorOfTheHost$",
	},
	{
		wrong: "A command in a container keeps the capabilities of the host process, and has no seccomp filter.",
		file:  "internal/node/process/sandbox/joining.go",
		old:   "		c.becomeUser()\n",
		new:   "		c.setIDs()\n",
		tests: "./internal/node/process -run ^TestACommandInAnImageHasTheRightsOfItsContainer$",
	},
	{
		wrong: "An ephemeral container can be changed.",
		file:  "internal/apiserver/registry/pod/ephemeral.go",
		old:   "case !apiequality.Semantic.DeepEqual(&pod.Spec.EphemeralContainers[at], was):",
		new:   "case at > len(old.Name) && !apiequality.Semantic.DeepEqual(&pod.Spec.EphemeralContainers[at], was):",
		tests: "./internal/apiserver/registry/pod -run Ephemeral",
	},
	{
		wrong: "A pod fails when an ephemeral container is lost.",
		file:  "internal/node/lifecycle/cause.go",
		old:   "if c.role != ephemeral && c.Last != nil && c.Last.Lost {",
		new:   "if c.Last != nil && c.Last.Lost {",
		tests: "./internal/node/lifecycle",
	},
	{
		wrong: "An ephemeral container that has ended is started again.",
		file:  "internal/node/lifecycle/ephemeral.go",
		old:   "c.role == ephemeral && c.Last == nil && ",
		new:   "c.role == ephemeral && !c.Running() && ",
		tests: "./internal/node/lifecycle",
	},
	{
		wrong: "Processes of a container are left among those of the container whose process ids it shared.",
		file:  "internal/node/process/sandbox/process.go",
		old:   "		left = killMarked(p.targetPID, of) || left\n",
		new:   "",
		tests: "./internal/node/process -run ^TestAContainerSharesTheProcessIDsOfAnother$",
	},
	{
		wrong: "A process that forks and ends at once outlives the container that shared the process ids of another.",
		file:  "internal/node/process/sandbox/podpids.go",
		old:   "missed = missed || dead[pid]",
		new:   "missed = missed && !dead[pid]",
		tests: "./internal/node/process -run ^TestAProcessThatIsAlwaysAnotherOneEndsBesideTheTarget$",
	},
	{
		wrong: "A pod has succeeded although one of its containers failed.",
		file:  "internal/node/lifecycle/report.go",
		old:   "if c.role == main && (c.Last == nil || c.Last.ExitCode != 0) {",
		new:   "if c.role == main && c.Last == nil {",
		tests: "./internal/node/lifecycle",
	},
	{
		wrong: "A container that crashes is started again at once.",
		file:  "internal/node/lifecycle/backoff.go",
		old:   "if h.CrashCount == 0 || ranLong(h.Last) {",
		new:   "if h.CrashCount >= 0 || ranLong(h.Last) {",
		tests: "./internal/node/lifecycle",
	},
	{
		wrong: "Every user of an image gets the account that the first one had.",
		file:  "internal/node/images/user.go",
		old:   "asked := askedIDs{ptr.Deref(uid, -1), ptr.Deref(gid, -1)}",
		new:   "asked := askedIDs{ptr.Deref(gid, -1), ptr.Deref(gid, -1)}",
		tests: "./internal/node/images -run User",
	},
	{
		wrong: "A container can write the termination message of a later one by a descriptor that it has passed on.",
		file:  "internal/node/process/sandbox/slotview.go",
		old:   "return unix.Unmount(path, unix.MNT_EXPIRE) == unix.EAGAIN",
		new:   "return true",
		tests: messageFiles,
	},
	{
		wrong: "What is written to a termination message file after its container has ended is the message of the next one.",
		file:  "internal/node/process/sandbox/slotview.go",
		old:   "isIdle(defaultMessagePath) && s.message.isUnchanged()",
		new:   "isIdle(defaultMessagePath)",
		tests: messageFiles,
	},
	{
		wrong: "A container without a termination message file has the message in that of a former one.",
		file:  "internal/node/process/sandbox/launch.go",
		old:   "	l.slot.dropMessage()\n",
		new:   "",
		tests: messageFiles,
	},
	{
		wrong: "What one container did to its termination message file is there for the next one.",
		file:  "internal/node/process/sandbox/message.go",
		old:   "return now == m.made",
		new:   "return true",
		tests: messageFiles,
	},
	{
		wrong: "CPU time is averaged over hours in which nothing was asked.",
		file:  "internal/node/resourcemetrics/meter.go",
		old:   "now.Sub(s.at) <= maxWindow",
		new:   "now.Sub(s.at) >= 0",
		tests: "./internal/node/resourcemetrics",
	},
	{
		wrong: "What runs in a container by exec is not counted where there are no cgroups.",
		file:  "internal/node/process/sandbox/resourceusage.go",
		old:   "mark(p.sandbox.config.Name, p.id)), p.commands.members())",
		new:   "mark(p.sandbox.config.Name, p.id)))",
		tests: "./internal/node/process -run CommandsInAContainerCountForIt",
	},
}

const messageFiles = "./internal/node/process -run TerminationMessageFile"
