package job

import batchv1 "k8s.io/api/batch/v1"

// Dependency is a Job that another one depends on, as it is now.
type Dependency struct {
	Name string
	// Job is nil where there is none of that name.
	Job *batchv1.Job
	// Cycle, if any, leads from the dependency back to the Job that depends on it: the names in between, both included.
	Cycle []string
}
