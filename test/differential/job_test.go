package differential_test

// jobDifferences are those of Jobs.
var jobDifferences = []difference{
	{gaps: `object (metadata\.managedFields\[\d+\]\.fieldsV1\.f:spec\.f:manualSelector|spec\.manualSelector)`,
		reason: "A2: manualSelector stays unset, so that nobody who reads a Job wonders whether to write it"},
	{
		cases:  []string{"update: a Job: manualSelector false"},
		gaps:   `object metadata\.(generation|managedFields)`,
		reason: "A2: manualSelector that is set to false was unset before, so this is a change",
	},
	{
		cases: []string{
			"create: selector: a copy of a Job",
			"create: selector: another name in both labels",
			"create: selector: another prefixed name as a label",
			"create: selector: another uid as a label",
			"create: selector: another uid as a prefixed label",
			"create: selector: another uid in selector and labels",
			"create: selector: another uid in the old selector",
			"create: selector: another uid in the selector",
		},
		gaps:   `code|reason|field spec\.selector|field spec\.template\.metadata\.labels.*`,
		reason: "A6: selector and labels that were generated for another Job are replaced, where Kubernetes refuses them",
	},
	{
		cases:  []string{"create: success policy without completions: *"},
		gaps:   `code|reason|field spec\..*`,
		reason: "the handler of Kubernetes 1.36 panics over a success policy without completions; Stint names the field",
	},
	{
		cases: []string{"create: names: of 64 characters"},
		gaps:  `field metadata\.name`,
		reason: "A9: a name too long for the label job-name is reported as what it is, beside the error about the label, " +
			"which its author has not written",
	},
	{
		cases:  []string{"create: metadata: an event as owner", "create: metadata: owners without *"},
		gaps:   `field metadata\.ownerReferences.*`,
		reason: "the library of Kubernetes 1.37 says which owner is wrong: ownerReferences[0].uid for ownerReferences.uid",
	},
	{
		cases:  []string{"create: fields that are newer than Kubernetes 1.36: *", "update: a Job: scheduling"},
		gaps:   `code|reason|field spec\.scheduling|warning unknown field .*`,
		reason: "spec.scheduling is new in 1.37 and alpha: it is refused, not dropped",
	},
	{
		cases: []string{
			"create: annotations of Stint: backoff-seconds",
			"create: annotations of Stint: max-backoff-seconds",
			"create: annotations of Stint: failed-pods-limit",
			"create: annotations of Stint: pending-timeout-seconds",
			"create: annotations of Stint: depends-on",
			"update: a Job: an annotation of Stint",
			"status: a Job that runs: an annotation of Stint",
		},
		gaps:   `code|reason|field metadata\.annotations\[stint\.dev/.*\]`,
		reason: "an annotation of Stint that this release does not have is refused, not ignored",
	},
}

// jobSections are the cases about Jobs that are too long to be written down.
func jobSections() []section { return nil }
