package differential_test

// jobDifferences are those of Jobs.
var jobDifferences = []difference{
	{gaps: `object (metadata\.managedFields\[\d+\]\.fieldsV1\.f:spec\.f:manualSelector|spec\.manualSelector)`,
		reason: "A2: manualSelector stays unset, so that nobody who reads a Job wonders whether to write it"},
}

// jobSections are the cases about Jobs that are too long to be written down.
func jobSections() []section { return nil }
