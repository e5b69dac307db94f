package main

// remotely are faults in the client of a remote server, whose answers can be lost.
var remotely = []fault{
	{
		wrong: "A create whose answer was lost is repeated under another name.",
		file:  "internal/client/remote/create.go",
		old:   "if getErr == nil && sameCreator(stored, obj) {",
		new:   "if getErr == nil && stored.GetUID() == obj.GetUID() {",
		tests: "./internal/client/remote -run ^TestAWriteWhoseAnswerIsLostIsDoneOnce$",
	},
	{
		wrong: "An object is deleted by its name, though another one has that name now.",
		file:  "internal/client/remote/resource.go",
		old:   "	if uid != \"\" {\n",
		new:   "	if uid != \"\" && opts.Unchanged {\n",
		tests: "./internal/client/remote -run ^TestRemoteKeepsThePromisesOnTheEmbeddedServer$",
	},
}
