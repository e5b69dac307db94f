package registry

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	_ "time/tzdata" // A machine without time zones shall know them too.

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// parseSchedule reads a schedule: five cron fields, or @hourly and its like. The zone is never part of it.
func parseSchedule(schedule string) (cron.Schedule, error) {
	// The parser takes a leading zone apart before it looks whether a schedule follows, and panics if none does.
	if strings.Contains(schedule, "TZ") {
		return nil, errors.New("TZ= and CRON_TZ= are not part of a schedule")
	}
	return cron.ParseStandard(schedule)
}

func validateSchedule(schedule string, p *field.Path) field.ErrorList {
	if schedule == "" {
		return field.ErrorList{field.Required(p, `say when the Jobs start: "0 3 * * *" is every day at 03:00`)}
	}
	if strings.Contains(schedule, "TZ") {
		return field.ErrorList{field.Invalid(p, schedule, zoneRemedy(schedule))}
	}
	if _, err := parseSchedule(schedule); err != nil {
		return field.ErrorList{field.Invalid(p, schedule, fmt.Sprintf(
			"%v; write MINUTE HOUR DAY-OF-MONTH MONTH DAY-OF-WEEK, or @hourly, @daily, @weekly, @monthly, @yearly", err))}
	}
	return nil
}

var zonePrefix = regexp.MustCompile(`^(?:CRON_)?TZ=(\S+)\s+(\S.*)$`)

func zoneRemedy(schedule string) string {
	if m := zonePrefix.FindStringSubmatch(schedule); m != nil {
		return fmt.Sprintf("must not hold a time zone: set timeZone to %q and schedule to %q", m[1], m[2])
	}
	return "must not hold TZ or CRON_TZ: set timeZone instead"
}

// zoneNamePart is a part of an IANA name between slashes. It keeps paths out of what is looked up as a file.
var zoneNamePart = regexp.MustCompile(`^[A-Za-z._0-9+][A-Za-z._0-9+-]{0,13}$`)

func validateTimeZone(zone *string, p *field.Path) field.ErrorList {
	const remedy = `write an IANA name such as "Europe/Berlin" or "Etc/UTC"`
	switch {
	case zone == nil:
		return nil
	case *zone == "":
		return field.ErrorList{field.Invalid(p, *zone, "must not be empty: leave it out, or "+remedy)}
	case strings.EqualFold(*zone, "Local"):
		return field.ErrorList{field.Invalid(p, *zone, "must not depend on the machine: "+remedy)}
	}
	for part := range strings.SplitSeq(*zone, "/") {
		if part == "." || part == ".." || !zoneNamePart.MatchString(part) {
			return field.ErrorList{field.Invalid(p, *zone, "unknown time zone: "+remedy)}
		}
	}
	if _, err := time.LoadLocation(*zone); err != nil {
		return field.ErrorList{field.Invalid(p, *zone, "unknown time zone: "+remedy)}
	}
	return nil
}
