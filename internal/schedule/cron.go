package schedule

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// ParseCron parses the schedule of a CronJob: five fields, or a descriptor such as @hourly. A time zone in it is an error.
func ParseCron(text string) (Spec, error) {
	// The library splits off a leading zone first, and panics if no schedule follows it.
	if strings.Contains(text, "TZ") {
		return Spec{}, errors.New(zoneInCron(text))
	}
	parsed, err := cron.ParseStandard(text)
	if err != nil && looksLikeInterval(strings.TrimSpace(text)) {
		return Spec{}, fmt.Errorf("%w; only a ScheduledJob (stint.dev/v1) has intervals such as R/T06:00/P1D", err)
	}
	if err != nil {
		return Spec{}, fmt.Errorf("%w; write MINUTE HOUR DAY-OF-MONTH MONTH DAY-OF-WEEK, or @hourly, @daily, @weekly, @monthly, @yearly, @every 24h", err)
	}
	switch parsed := parsed.(type) {
	case *cron.SpecSchedule:
		f := fieldsOf(parsed)
		return Spec{in: func(zone *time.Location, since int64) sequence {
			return clock{fields: f, zone: zone, since: since}
		}}, nil
	case cron.ConstantDelaySchedule:
		return every(int64(parsed.Delay / time.Second)), nil
	}
	return Spec{}, fmt.Errorf("%q is of a kind that is not known", text)
}

var zonePrefix = regexp.MustCompile(`^(?:CRON_)?TZ=(\S+)\s+(\S.*)$`)

func zoneInCron(text string) string {
	if m := zonePrefix.FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("must not hold a time zone: set timeZone to %q and write %q here", m[1], m[2])
	}
	return "must not hold TZ or CRON_TZ: set timeZone instead"
}

// every is due one period after the schedule came into force, and then each period.
func every(period int64) Spec {
	return Spec{in: func(zone *time.Location, since int64) sequence {
		return between(anchor{at: since, zone: zone}, math.MaxInt64, duration{seconds: period}, since)
	}}
}
