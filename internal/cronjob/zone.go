package cronjob

import (
	"strings"
	"time"

	"github.com/stint-dev/stint/internal/schedule"
)

// zoneInSchedule splits a schedule that begins with TZ= or CRON_TZ=, stored before Kubernetes refused that.
func zoneInSchedule(text string) (rest string, zone *time.Location, found bool) {
	for _, prefix := range []string{"TZ=", "CRON_TZ="} {
		name, has := strings.CutPrefix(text, prefix)
		if !has {
			continue
		}
		name, rest, _ := strings.Cut(name, " ")
		if zone, err := schedule.LoadZone(name); err == nil {
			return strings.TrimSpace(rest), zone, true
		}
	}
	return "", nil, false
}
