package registry

// All lists every kind that is served.
func All(o Options) []Resource {
	return []Resource{
		Namespace(),
		Node(),
		Pod(o),
		PodTemplate(o),
		Job(o),
		CronJob(o),
		ScheduledJob(o),
		ResultSlice(),
		ConfigMap(),
		Secret(),
		ServiceAccount(),
		Event(),
		Lease(),
		RuntimeClass(o),
	}
}
