package main

// remembering are faults in what the server keeps in memory.
var remembering = []fault{
	{
		wrong: "The watch cache keeps the events of 75 seconds, however large they are.",
		file:  "internal/store/event_clock.go",
		old:   "time.Duration(encodedSize(obj))/historyBytes",
		new:   "0",
		tests: "./internal/store -run ^TestTheWatchCacheForgetsAndEtcdServesWhatItForgot$",
	},
	{
		wrong: "A watch from a version that the watch cache has dropped is not served by etcd.",
		file:  "internal/store/resume.go",
		old:   "	if isExpired(first) {\n",
		new:   "	if isExpired(first) && key == \"\" {\n",
		tests: "./internal/store -run ^TestTheWatchCacheForgetsAndEtcdServesWhatItForgot$",
	},
	{
		wrong: "The events between a list and its watch are lost.",
		file:  "internal/apiserver/inprocess/list_watch.go",
		old:   "	if received := l.subscribe(); received != \"\" && version != \"\" {\n",
		new:   "	if received := \"\"; received != \"\" && version != \"\" {\n",
		tests: "./internal/apiserver/inprocess -run ^TestAListAndItsWatchHaveEveryPodOnce$",
	},
	{
		wrong: "A change of an object of which the informer has only the metadata drops the rest.",
		file:  "internal/apiserver/inprocess/modify.go",
		old:   "	if k.Resource.Uncached {\n		return nil\n	}\n",
		new:   "",
		tests: "./internal/apiserver -run ^TestAChangeOfAnUncachedObjectKeepsWhatItsInformerLeftOut$",
	},
	{
		wrong: "A status is read from etcd before it is stored.",
		file:  "internal/apiserver/inprocess/modify.go",
		old:   "held >= seen {",
		new:   "held > seen {",
		tests: "./internal/apiserver/inprocess -run ^TestAStatusOfACachedObjectIsStoredWithoutReadingIt$",
	},
	{
		wrong: "Nothing can be deleted from a server without memory for new objects.",
		file:  "internal/apiserver/memory_admission.go",
		old:   "func (a *memoryAdmission) Handles(op admission.Operation) bool { return op == admission.Create }\n",
		new:   "func (a *memoryAdmission) Handles(admission.Operation) bool { return true }\n",
		tests: "./internal/apiserver -run ^TestWithoutMemoryNewObjectsAreRefusedAndAllElseGoesOn$",
	},
}
