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

// ParseCron reads the schedule of a CronJob: five fields, or @hourly and its like. The zone is never part of it.
func ParseCron(text string) (Spec, error) {
	// The library takes a leading zone apart before it looks whether a schedule follows, and panics if none does.
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

// every is due one period after the schedule was taken up, and then each period.
func every(period int64) Spec {
	return Spec{in: func(zone *time.Location, since int64) sequence {
		return between(anchor{at: since, zone: zone}, math.MaxInt64, duration{seconds: period}, since)
	}}
}
