package main

// ofClaims are faults of the claims that users make, and of what they are told about missing ones.
var ofClaims = []fault{
	{
		wrong: "--claim gives a claim that exists another directory, under the pods that use it.",
		file:  "internal/cli/run/dirclaim/decide.go",
		old:   "	case volume != nil && volume.Spec.HostPath.Path != c.Dir:\n",
		new:   "	case false:\n",
		tests: "./internal/cli/run/dirclaim",
	},
	{
		wrong: "--claim deletes a PersistentVolume that it has not made.",
		file:  "internal/cli/run/dirclaim/decide.go",
		old:   "	return volume.Spec.HostPath != nil && of != nil && of.Namespace == namespace && of.Name == c.Name\n",
		new:   "	return volume.Spec.HostPath != nil && of != nil\n",
		tests: "./internal/cli/run/dirclaim",
	},
	{
		wrong: "A Secret that a pod can do without is called missing.",
		file:  "internal/podneeds/podneeds.go",
		old:   "		if ref := v.ValueFrom.SecretKeyRef; ref != nil && !ptr.Deref(ref.Optional, false) {\n",
		new:   "		if ref := v.ValueFrom.SecretKeyRef; ref != nil {\n",
		tests: "./internal/podneeds",
	},
	{
		wrong: "A wait for a volume that is being provisioned is said to last for ever.",
		file:  "internal/job/explain/pod_group.go",
		old:   "[]string{\"unbound immediate\", ",
		new:   "[]string{",
		tests: "./internal/job/explain",
	},
}
