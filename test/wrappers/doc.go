// Package wrappers builds the Jobs, Pods, CronJobs and ScheduledJobs that tests begin with:
//
//	wrappers.MakeJob("pi").Indexed().Completions(3).BackoffLimit(1).Obj()
//
// A method has the name of the field that it sets. With sets fields that only one test needs. The package imports types of
// the API alone, so that the tests inside any package can use it.
package wrappers
