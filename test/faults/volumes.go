package main

// volumes are faults by which data is lost, or a claim and a volume do not agree.
var volumes = []fault{
	{
		wrong: "A volume that names a claim is given to another.",
		file:  "internal/persistentvolume/bind.go",
		old:   "!isFree(v) && !storagevolume.IsVolumeBoundToClaim(v, c) || v.DeletionTimestamp",
		new:   "v.DeletionTimestamp",
		tests: "./internal/persistentvolume -run ^TestAVolumeIsBoundToNoSecondClaim$",
	},
	{
		wrong: "Data is removed by the cached reclaim policy of its volume.",
		file:  "internal/controller/persistentvolume/volume.go",
		old:   "return b.applyVolume(ctx, v, b.decideVolume(v, claim))",
		new:   "return b.applyVolume(ctx, cached, b.decideVolume(cached, claim))",
		tests: "./internal/controller/persistentvolume/model -run ^TestAPolicyThatIsNotCachedYetKeepsTheData$",
	},
	{
		wrong: "Data goes with a volume that is deleted while its claim is there.",
		file:  "internal/persistentvolume/volume.go",
		old:   "	case o.Claim.Spec.VolumeName == v.Name:\n",
		new:   "	case v.DeletionTimestamp != nil:\n		return o.reclaim()\n	case o.Claim.Spec.VolumeName == v.Name:\n",
		tests: "./internal/persistentvolume -run ^TestWhatHappensToAVolume$",
	},
	{
		wrong: "A path of the user's is removed because a volume says that it was provisioned here.",
		file:  "internal/persistentvolume/provision.go",
		old:   " == Provisioner && v.Spec.Local != nil",
		new:   " == Provisioner",
		tests: "./internal/persistentvolume -run ^TestWhatHappensToAVolume$",
	},
	{
		wrong: "A claim goes by the cached pods, while a pod that is not cached uses it.",
		file:  "internal/controller/volumeprotection/claims.go",
		old:   "	using := map[string][]*corev1.Pod{}\n",
		new:   "	if len(free) > 0 {\n		return free, nil\n	}\n	using := map[string][]*corev1.Pod{}\n",
		tests: "./internal/controller/persistentvolume/model -run ^TestAPodThatIsNotCachedYetKeepsItsClaim$",
	},
	{
		wrong: "A claim goes while a pod of a node uses it.",
		file:  "internal/persistentvolume/use.go",
		old:   "return p.Spec.NodeName != \"\" && !podstatus.IsTerminated(p)",
		new:   "return p.Spec.NodeName != \"\" && p.DeletionTimestamp == nil && !podstatus.IsTerminated(p)",
		tests: "./internal/persistentvolume -run ^TestWhichPodsMatterToAClaim$",
	},
	{
		wrong: "A claim is bound to a local volume whose directory was not made before the controller ended.",
		file:  "internal/controller/persistentvolume/bind.go",
		old:   "	if core.IsUnfinished(v, c) {\n		if err := b.makeDirectory",
		new:   "	if core.IsUnfinished(v, c) && v.Status.Phase == corev1.VolumeBound {\n		if err := b.makeDirectory",
		tests: "./internal/controller/persistentvolume/model",
	},
	{
		wrong: "A claim that waited for a volume that was chosen for another is not looked at again.",
		file:  "internal/controller/persistentvolume/claim.go",
		old:   "		b.queuePending(o.Class.Name, freedDelay)\n",
		new:   "",
		tests: "./internal/controller/persistentvolume/model -run ^TestAClaimGetsTheVolumeThatWasChosenForAnother$",
	},
}
