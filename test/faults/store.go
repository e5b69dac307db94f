package main

// inTheStore are faults of the store's upkeep.
var inTheStore = []fault{
	{
		wrong: "History that a reader has just seen is dropped.",
		file:  "internal/store/upkeep.go",
		old:   "	to := u.revisionBefore(minKeptSteps)\n",
		new:   "	to := u.revisionBefore(0)\n",
		tests: "./internal/store -run History",
	},
	{
		wrong: "History grows until it is a minute old.",
		file:  "internal/store/upkeep.go",
		old:   "case grown, now.full && u.steps >= minKeptSteps:",
		new:   "case grown && now.full, now.full && u.steps >= minKeptSteps:",
		tests: "./internal/store -run History",
	},
	{
		wrong: "The database is defragmented under load.",
		file:  "internal/store/upkeep.go",
		old:   "quiet := now.revision-u.compacted <= quietRevisions && !removing",
		new:   "quiet := !removing",
		tests: "./internal/store -run Quiet",
	},
	{
		wrong: "A full store does not notice that it has room again.",
		file:  "internal/store/upkeep.go",
		old:   "removing || now.full || u.steps <= 2",
		new:   "false",
		tests: "./internal/store -run ^TestFreedPagesAreMadeToCount$",
	},
	{
		wrong: "A full store refuses the update that a deletion begins with.",
		file:  "internal/store/quota.go",
		old:   "	case !creates:\n		return q.bytes\n",
		new:   "	case !creates:\n		return q.bytes - q.bytes/8\n",
		tests: "./internal/store -run Full",
	},
	{
		wrong: "Updates fill the disk.",
		file:  "internal/store/quota.go",
		old:   "	case !creates:\n		return q.bytes\n",
		new:   "	case !creates:\n		return 2 * q.bytes\n",
		tests: "./internal/store -run Reserve",
	},
}
