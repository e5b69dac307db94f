package cronjob

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/schedule"
)

func validateSchedule(text string, p *field.Path) field.ErrorList {
	if text == "" {
		return field.ErrorList{field.Required(p, `say when the Jobs start: "0 3 * * *" is every day at 03:00`)}
	}
	if _, err := schedule.ParseCron(text); err != nil {
		return field.ErrorList{field.Invalid(p, text, err.Error())}
	}
	return nil
}

// ValidateTimeZone requires that the time zone, if it is set, is known to this process.
func ValidateTimeZone(zone *string, p *field.Path) field.ErrorList {
	if zone == nil {
		return nil
	}
	if *zone == "" {
		return field.ErrorList{field.Invalid(p, *zone, "must not be empty: leave it out, or "+schedule.ZoneRemedy)}
	}
	if _, err := schedule.LoadZone(*zone); err != nil {
		return field.ErrorList{field.Invalid(p, *zone, err.Error())}
	}
	return nil
}
