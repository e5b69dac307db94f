package scheduledjob

import (
	"regexp"
	"strings"
	"time"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// dueLayout is how a due time is written as a tag.
const dueLayout = "20060102-150405"

var manualTag = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,13}[a-z0-9])?$`)

// ValidTag tells whether a run can have this tag.
func ValidTag(tag string) bool {
	_, scheduled := dueOf(tag)
	return scheduled || ManualTag(tag)
}

// ManualTag tells whether a run on demand can have this tag. No due time is written like that.
func ManualTag(tag string) bool { return manualTag.MatchString(tag) }

// GenerateTag is the tag of a run on demand whose author gave it none; random is five characters of [a-z0-9].
func GenerateTag(random string) string { return "manual-" + random }

// JobName is the name of the Job of the run with this tag.
func JobName(name, tag string) string { return name + "-" + tag }

// tagOf is the tag of the run that a Job is of, by its name: unlike labels, nobody can change that.
func tagOf(name, job string) (tag string, ok bool) {
	tag, ok = strings.CutPrefix(job, name+"-")
	return tag, ok && ValidTag(tag)
}

func dueTag(due time.Time) string { return due.UTC().Format(dueLayout) }

// dueOf is the due time that a tag stands for.
func dueOf(tag string) (time.Time, bool) {
	due, err := time.Parse(dueLayout, tag)
	return due, err == nil && dueTag(due) == tag
}

func triggerOf(tag string) stintv1.Trigger {
	if ManualTag(tag) {
		return stintv1.TriggerManual
	}
	return stintv1.TriggerSchedule
}
