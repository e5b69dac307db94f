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
		old:   "!isExpired(first[0]) {\n",
		new:   "!isExpired(first[0]) || key != \"\" {\n",
		tests: "./internal/store -run ^TestTheWatchCacheForgetsAndEtcdServesWhatItForgot$",
	},
	{
		wrong: "A watch ends when its client does not read it for a moment.",
		file:  "internal/store/resume.go",
		old:   "	return p.known && received && !failed && !stopped\n",
		new:   "	return p.known && received && !failed && !stopped && source.enough > 0\n",
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
	{
		wrong: "A watch of Events gets bookmarks that its client has not asked for, and kubectl prints them as empty lines.",
		file:  "internal/store/storage.go",
		old:   "Cached: uncached{direct}, Direct",
		new:   "Cached: direct, Direct",
		tests: "./internal/store -run ^TestAWatchWithoutACacheGetsNoBookmarksThatItDoesNotWant$",
	},
	{
		wrong: "What was deleted stays in the history of a watch cache, so a server without memory never gets any again.",
		file:  "internal/store/feed.go",
		old:   "	f.replaced = replaced{}\n	f.stop()\n",
		new:   "",
		tests: "./internal/store -run ^TestAForgetfulWatchCacheKeepsNothingThatWasDeletedAndItsWatchesGoOn$",
	},
	{
		wrong: "The event of a write has the same metadata as the result, which both change.",
		file:  "internal/store/shared_decoding.go",
		old:   "decoded{data, withoutType(obj), *kind}",
		new:   "decoded{data, obj, *kind}",
		tests: "./internal/store -run ^TestAnEventOwnsItsMetadata$",
	},
	{
		wrong: "The event of a write is taken for another one with the same hash.",
		file:  "internal/store/shared_decoding.go",
		old:   "	if !ok || !bytes.Equal(d.data, data) {\n",
		new:   "	if !ok || bytes.Equal(d.data, nil) {\n",
		tests: "./internal/store -run ^TestOnlyTheSameBytesAreShared$",
	},
	{
		wrong: "A handler of HTTP requests changes the result of its write, and with it the watch cache.",
		file:  "internal/store/storage.go",
		old:   "cacher.NewCacheDelegator(c, direct)",
		new:   "cacher.NewCacheDelegator(c, shared)",
		tests: "./internal/store -run ^TestACallerMayChangeTheResultOfACachedWrite$",
	},
}
