package apiserver

import "github.com/stint-dev/stint/internal/apiserver/registry"

// fillGaps adds the Jobs where the registry does not list them yet. It goes when the registry is whole.
func fillGaps(o registry.Options, have []registry.Resource) []registry.Resource {
	for _, r := range have {
		if r.Plural == "jobs" {
			return have
		}
	}
	return append(have, registry.Job(o), registry.CronJob(o))
}
