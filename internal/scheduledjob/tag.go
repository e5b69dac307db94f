package scheduledjob

import (
	"regexp"
	"strings"
	"time"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// dueLayout is the format of a due time as a tag.
const dueLayout = "20060102-150405"

var manualTag = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,13}[a-z0-9])?$`)

// ValidTag reports whether a run can have this tag.
func ValidTag(tag string) bool {
	_, scheduled := dueOf(tag)
	return scheduled || ManualTag(tag)
}

// ManualTag reports whether a run on demand can have this tag. No tag of a due time matches.
func ManualTag(tag string) bool { return manualTag.MatchString(tag) }

// GenerateTag returns the tag of a run on demand that was requested without one; random is five characters of [a-z0-9].
func GenerateTag(random string) string { return "manual-" + random }

// JobName is the name of the Job of the run with this tag.
func JobName(name, tag string) string { return name + "-" + tag }

// tagOf returns the tag of a Job's run. It takes it from the Job's name, which, unlike labels, cannot change.
func tagOf(name, job string) (tag string, ok bool) {
	tag, ok = strings.CutPrefix(job, name+"-")
	return tag, ok && ValidTag(tag)
}

func dueTag(due time.Time) string { return due.UTC().Format(dueLayout) }

// dueOf returns the due time of a scheduled run's tag.
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
