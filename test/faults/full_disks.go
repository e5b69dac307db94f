package main

// ofFullDisks are faults by which a full disk ends what could wait, or is not explained.
var ofFullDisks = []fault{
	{
		wrong: "A container that cannot start because the disk is full fails for good.",
		file:  "internal/node/process/sandbox/launch.go",
		old:   "unix.EBUSY, unix.ENOSPC, unix.EDQUOT}",
		new:   "unix.EBUSY}",
		tests: "./internal/node/process -run ^TestAFullDiskIsNoFaultOfTheContainer$",
	},
	{
		wrong: "What the host process says of a full disk is not understood.",
		file:  "internal/filesystem/reserve.go",
		old:   "	return IsFull(err) || err != nil",
		new:   "	return IsFull(err) || err == nil",
		tests: "./internal/filesystem",
	},
	{
		wrong: "The Node is written again whenever a pod takes a little more of the disk.",
		file:  "internal/node/diskpressure/largest.go",
		old:   "now.Bytes() > 2*h.Bytes()",
		new:   "now.Bytes() > h.Bytes()",
		tests: "./internal/node/diskpressure",
	},
	{
		wrong: "Of pods of about the same size others are named each time that a full disk is measured.",
		file:  "internal/node/diskpressure/largest.go",
		old:   "h.Bytes() > 2*named[most-1].Bytes()",
		new:   "h.Bytes() > named[most-1].Bytes()",
		tests: "./internal/node/diskpressure",
	},
	{
		wrong: "Pods that take next to nothing are named on a full disk.",
		file:  "internal/node/diskpressure/largest.go",
		old:   "	matters := filesystem.Share(size, enoughBytes, mattersPercent)\n",
		new:   "	matters := int64(0)\n",
		tests: "./internal/node/diskpressure",
	},
	{
		wrong: "A Job is told of the disk space of another pod.",
		file:  "internal/node/diskpressure/largest.go",
		old:   "Name: name}.id()+\" (\")",
		new:   "Name: name}.id())",
		tests: "./internal/node/diskpressure",
	},
	{
		wrong: "A limit of a container does not count its log.",
		file:  "internal/node/localstorage/localstorage.go",
		old:   "return u.Roots[name] + u.Logs[name]",
		new:   "return u.Roots[name]",
		tests: "./internal/node/localstorage",
	},
	{
		wrong: "Others who fill the disk end the store when it makes a snapshot.",
		file:  "internal/store/headroom.go",
		old:   "if h.readOnly || !h.snapshots.isNear()",
		new:   "if h.snapshots != nil || !h.snapshots.isNear()",
		tests: "./internal/store -run ^TestAStoreGoesOnThoughOthersTakeAllSpace$",
	},
	{
		wrong: "Others who fill the disk end the store when its database grows.",
		file:  "internal/store/allocation.go",
		old:   "max(growth-free, burstBytes))",
		new:   "min(growth-free, 0))",
		tests: "./internal/store -run ^TestAStoreGoesOnThoughOthersTakeAllSpace$",
	},
	{
		wrong: "A store that lives on its reserve creates objects.",
		file:  "internal/store/headroom.go",
		old:   "		needed = enough\n",
		new:   "		needed = scarce\n",
		tests: "./internal/store -run ^TestAStoreIsOpenedOnAFullDisk$",
	},
	{
		wrong: "Each start of a store on a full disk loses a segment of its log.",
		file:  "internal/store/allocation.go",
		old:   "		h.spares.keep(filepath.Join(h.dir, \"member\", \"wal\", name))\n",
		new:   "		_ = name\n",
		tests: "./internal/store -run ^TestAStoreIsOpenedOnAFullDisk$",
	},
	{
		wrong: "A reader of a store whose disk is full is refused.",
		file:  "internal/store/store.go",
		old:   "	if s.readOnly && filesystem.SaysFull(err) {\n",
		new:   "	if s.readOnly && filesystem.IsFull(err) {\n",
		tests: "./internal/store -run ^TestAStoreWithoutHeadroomIsReadOnAFullDisk$",
	},
}
