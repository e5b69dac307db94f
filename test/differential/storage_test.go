package differential_test

// storageDifferences are those of PersistentVolumes, PersistentVolumeClaims and StorageClasses.
var storageDifferences = []difference{
	{gaps: `field (spec\.)?(volumeMode|nodeAffinity)`, mixed: true, reason: veryField + "it leaves out spec"},
	{gaps: `type spec\.nodeAffinity`, mixed: true, reason: veryField + "it leaves out spec in one of two errors"},
	{gaps: `field spec\.resources(\.requests)?\[storage\]`, mixed: true, reason: veryField + "it leaves out requests"},
	{gaps: `field spec\.(persistentDisk|gcePersistentDisk)\.pdName`, reason: veryField + "gcePersistentDisk has that name"},
	{gaps: `warning spec\.storage(os|OS)`, reason: veryField + "storageos is written so"},
	{gaps: `warning spec\.(flocker|quobyte)`, reason: "these volumes are no longer supported either"},
	{gaps: `type spec\.capacity|type allowedTopologies\[0\]\.matchLabelExpressions`, reason: "what is not there is neither unknown nor there twice"},
	{
		cases:  []string{"update: labels of machines that were deprecated: back to the old label"},
		gaps:   `code|reason|field (spec\.)?nodeAffinity|warning spec\.nodeAffinity\..*`,
		reason: "the old label means the same as the new one",
	},
	{
		cases:  []string{"update: a bound claim: more*"},
		gaps:   `code|reason|field spec`,
		reason: "Kubernetes judges last whether a claim may grow, Stint first",
	},
	{
		cases: []string{
			"create: a claim: a source by reference in another namespace", "create: a claim: a source of another kind*",
			"create: a claim: a source without a kind", "create: a claim: two sources and a namespace",
		},
		gaps:   `code|reason|field spec(\.dataSource(Ref)?(\.kind)?)?|object spec\.dataSource(Ref)?`,
		reason: "Kubernetes drops what it cannot fill a volume from silently; Stint keeps it, and its node refuses it",
	},
}
