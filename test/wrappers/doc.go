// Package wrappers builds the Jobs, Pods, CronJobs and ScheduledJobs that tests begin with:
//
//	wrappers.MakeJob("pi").Indexed().Completions(3).BackoffLimit(1).Obj()
//
// A method is called as the field that it sets. What one test alone sets goes through With. The package knows types of
// the API alone, so that the tests inside any package can use it.
package wrappers
