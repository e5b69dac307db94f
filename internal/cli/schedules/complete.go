package schedules

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// Names returns the names of the objects of some kinds, for completion: as KIND/NAME if several kinds have the name. Kinds that
// cannot be listed are left out.
func (c *Clients) Names(ctx context.Context, among ...Kind) []string {
	having := map[string][]Kind{}
	for _, kind := range among {
		for _, name := range c.list(ctx, kind) {
			having[name] = append(having[name], kind)
		}
	}
	var names []string
	for name, kinds := range having {
		if len(kinds) == 1 {
			names = append(names, name)
			continue
		}
		for _, kind := range kinds {
			names = append(names, string(kind)+"/"+name)
		}
	}
	slices.Sort(names)
	return names
}

// list returns the names of a kind. It ignores errors, as completion cannot show them.
func (c *Clients) list(ctx context.Context, kind Kind) []string {
	var names []string
	switch kind {
	case Job:
		list, _ := c.batch.Jobs(c.namespace).List(ctx, metav1.ListOptions{})
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
	case CronJob:
		list, _ := c.batch.CronJobs(c.namespace).List(ctx, metav1.ListOptions{})
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
	case ScheduledJob:
		list := &stintv1.ScheduledJobList{}
		_ = c.stint.Get().Namespace(c.namespace).Resource(scheduledJobs).Do(ctx).Into(list)
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
	}
	return names
}
