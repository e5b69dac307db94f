package schedules

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Kind is a kind of object that a command can be about.
type Kind string

// The kinds.
const (
	Job          Kind = "job"
	CronJob      Kind = "cronjob"
	ScheduledJob Kind = "scheduledjob"
)

// kinds are all names that kubectl accepts for them.
var kinds = map[string]Kind{
	"job": Job, "jobs": Job, "job.batch": Job, "jobs.batch": Job,
	"cj": CronJob, "cronjob": CronJob, "cronjobs": CronJob, "cronjob.batch": CronJob, "cronjobs.batch": CronJob,
	"sj": ScheduledJob, "scheduledjob": ScheduledJob, "scheduledjobs": ScheduledJob,
	"scheduledjob.stint.dev": ScheduledJob, "scheduledjobs.stint.dev": ScheduledJob,
}

// Find returns the object that text names: NAME if only one of the kinds has it, or KIND/NAME.
func (c *Clients) Find(ctx context.Context, text string, among ...Kind) (metav1.Object, error) {
	kind, name, err := parseName(text, among)
	if err != nil {
		return nil, err
	}
	if kind != "" {
		among = []Kind{kind}
	}
	var found metav1.Object
	var has []string
	var unread error
	for _, kind := range among {
		object, err := c.get(ctx, kind, name)
		switch {
		case err == nil:
			found, has = object, append(has, string(kind)+"/"+name)
		case !apierrors.IsNotFound(err): // a kind that is not served is NotFound, too
			unread = errors.Join(unread, fmt.Errorf("look for %s %s: %w", kind, name, err))
		}
	}
	switch {
	case len(has) > 1:
		return nil, inputErrorf("%s is ambiguous: write %s", name, strings.Join(has, " or "))
	case len(has) == 1:
		return found, nil
	case unread != nil:
		return nil, unread
	}
	return nil, inputErrorf("there is no %s %q in namespace %s: %s lists what there is",
		alternatives(among), name, c.namespace, c.target.Caller.Command(c.namespace, "get", plurals(among)))
}

// parseName splits KIND/NAME; the kind is empty if text has none.
func parseName(text string, among []Kind) (Kind, string, error) {
	prefix, name, both := strings.Cut(text, "/")
	if !both {
		prefix, name = "", text
	}
	kind := kinds[strings.ToLower(prefix)]
	known := !both
	for _, k := range among {
		known = known || k == kind
	}
	if !known {
		return "", "", inputErrorf("%q is no %s: write NAME, or KIND/NAME such as %s/%s",
			text, alternatives(among), among[len(among)-1], strings.Trim(name, "/"))
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return "", "", inputErrorf("%q cannot be a name: names have lower-case letters, digits, - and .", name)
	}
	return kind, name, nil
}

func (c *Clients) get(ctx context.Context, kind Kind, name string) (metav1.Object, error) {
	switch kind {
	case Job:
		return c.batch.Jobs(c.namespace).Get(ctx, name, metav1.GetOptions{})
	case CronJob:
		return c.batch.CronJobs(c.namespace).Get(ctx, name, metav1.GetOptions{})
	default:
		return c.scheduledJob(ctx, name)
	}
}

func alternatives(among []Kind) string {
	names := map[Kind]string{Job: "Job", CronJob: "CronJob", ScheduledJob: "ScheduledJob"}
	text := ""
	for i, kind := range among {
		switch {
		case i == 0:
		case i == len(among)-1:
			text += " or "
		default:
			text += ", "
		}
		text += names[kind]
	}
	return text
}

func plurals(among []Kind) string {
	var names []string
	for _, kind := range among {
		names = append(names, string(kind)+"s")
	}
	return strings.Join(names, ",")
}
