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
		wrong: "A container with a preStop hook is told to stop at once.",
		file:  "internal/node/lifecycle/stop.go",
		old:   "case !told && c.hasPreStop() && p.Now.Before(o.by):",
		new:   "case told && c.hasPreStop() && p.Now.Before(o.by):",
		tests: "./internal/node/lifecycle",
	},
	{
		wrong: "The containers after a sidecar do not wait for its startup probe.",
		file:  "internal/node/lifecycle/health.go",
		old:   "return c.Running() && c.PostStart == HookIdle && c.Probes.Started()",
		new:   "return c.Running() && c.PostStart == HookIdle",
		tests: "./internal/node/lifecycle",
	},
	{
		wrong: "A sidecar that exits after the main containers restarts all of them.",
		file:  "internal/node/lifecycle/restart_all.go",
		old:   " && !p.overAt(s.FinishedAt)",
		new:   "",
		tests: "./internal/node/lifecycle",
	},
	{
		wrong: "A liveness probe runs while its container has not started.",
		file:  "internal/node/probe/attempt.go",
		old:   "a.Started() == (t.kind != Startup)",
		new:   "(t.kind != Startup || !a.Started())",
		tests: "./internal/node/probe",
	},
	{
		wrong: "A probe follows a redirect to another host.",
		file:  "internal/node/prober/http.go",
		old:   "case r.URL.Hostname() != via[0].URL.Hostname():",
		new:   "case r.URL.Hostname() == \"\":",
		tests: "./internal/node/prober",
	},
	{
		wrong: "Variables come from what is not a regular file.",
		file:  "internal/node/env/file.go",
		old:   "case !info.Mode().IsRegular():",
		new:   "case info.Mode() == 0:",
		tests: "./internal/node/env",
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
}

const messageFiles = "./internal/node/process -run TerminationMessageFile"
