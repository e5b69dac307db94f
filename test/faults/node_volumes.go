package main

// ofVolumes are faults by which a claim, or what is beside it, loses its data.
var ofVolumes = []fault{
	{
		wrong: "A pod uses a claim before it is bound to the node, so that nothing protects the claim.",
		file:  "internal/node/sync.go",
		old:   `api.Spec.NodeName == "" && persistentvolume.UsesClaims(api) ||`,
		new:   `api.Spec.NodeName == "none" && persistentvolume.UsesClaims(api) ||`,
		tests: "./internal/node -run ^TestAPodWithAClaimIsBoundBeforeItStarts$",
	},
	{
		wrong: "A pod starts with a claim as the informers show it.",
		file:  "internal/node/claims/claims.go",
		old:   "claim, err := existing(r.Client.PersistentVolumeClaims().Get(ctx, pod.Namespace, persistentvolume.ClaimOf(pod, v)))",
		new:   `claim, err := cached[*corev1.PersistentVolumeClaim](r.Client.PersistentVolumeClaims().Informer(), pod.Namespace+"/"+persistentvolume.ClaimOf(pod, v)), error(nil)`,
		tests: "./internal/node/claims",
	},
	{
		wrong: "A new pod gets a claim that is being deleted.",
		file:  "internal/node/claims/claims.go",
		old:   "case claim.DeletionTimestamp != nil && !used:",
		new:   "case false:",
		tests: "./internal/node/claims",
	},
	{
		wrong: "A provisioned volume is where its spec says, not where its name says.",
		file:  "internal/node/volumes/persistent.go",
		old:   "case persistentvolume.IsLocal(pv):",
		new:   "case persistentvolume.IsLocal(pv) && pv.Spec.Local == nil:",
		tests: "./internal/node -run ^TestAProvisionedVolumeIsFoundByItsName$",
	},
	{
		wrong: "A link is taken for the directory of a volume.",
		file:  "internal/localvolume/localvolume.go",
		old:   "switch info, err := os.Lstat(path); {",
		new:   "switch info, err := os.Stat(path); {",
		tests: "./internal/localvolume",
	},
	{
		wrong: "What is mounted in a claim is given to the pod's fsGroup.",
		file:  "internal/filetree/filetree.go",
		old:   "		Resolve: unix.RESOLVE_NO_XDEV,",
		new:   "		Resolve: 0,",
		tests: "./internal/beneath -run ^TestWhatIsMountedInAVolumeIsNotShared$",
	},
	{
		wrong: "A claim that was given to a fsGroup in part is taken for one that is shared.",
		file:  "internal/beneath/share.go",
		old:   "	if err = (filetree.Walk{Visit: s.visit}).Below(ctx, dir); err == nil {\n		err = s.apply(dir)\n	}",
		new:   "	if err = s.apply(dir); err == nil {\n		err = (filetree.Walk{Visit: s.visit}).Below(ctx, dir)\n	}",
		tests: "./internal/beneath -run ^TestAShareThatWasInterruptedIsDoneAgain$",
	},
	{
		wrong: "A claim is given to the fsGroup of a pod that was deleted.",
		file:  "internal/node/volumes/shares.go",
		old:   "		r.cancel()\n		<-r.done",
		new:   "		_ = r",
		tests: "./internal/node/volumes -run ^TestAShareEndsWithItsPodAndWithTheServer$",
	},
	{
		wrong: "A removal goes on after the server has stopped.",
		file:  "internal/beneath/remove.go",
		old:   "err := r.ctx.Err()",
		new:   "err := error(nil)",
		tests: "./internal/beneath -run ^TestWhatARemovalLeavesIsRemovedByTheNext$",
	},
	{
		wrong: "What is no name of a volume is removed.",
		file:  "internal/localvolume/localvolume.go",
		old:   "if !beneath.IsElement(volume) || volume[0] == '.' {",
		new:   "if !beneath.IsElement(volume) {",
		tests: "./internal/localvolume",
	},
}
