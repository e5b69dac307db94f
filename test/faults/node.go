package main

// onTheNode are faults in what a node reports of a pod.
var onTheNode = []fault{
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
}
