package cronjob

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

func TestScheduleGrammar(t *testing.T) {
	for _, text := range []string{
		"* * * * *", "*/15 0-6,22 1,15 * 1-5", "0 3 * jan,JUL sun", "0 0 31 2 ?", "5/10 * * * *", "  0 3 * * *  ",
		"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly", "@every 1h30m",
	} {
		registrytest.WantErrors(t, validateSchedule(text, field.NewPath("schedule")))
	}
	for sentence, text := range map[string]string{
		"four fields are too few":        "* * * *",
		"six fields are too many":        "0 * * * * *",
		"an hour has 60 minutes":         "60 * * * *",
		"a day has 24 hours":             "0 24 * * *",
		"months start at day 1":          "0 0 0 * *",
		"there are 12 months":            "0 0 1 13 *",
		"Sunday is 0 only":               "0 0 * * 7",
		"a range runs upwards":           "30-10 * * * *",
		"a step is not 0":                "*/0 * * * *",
		"words are none":                 "every day at noon please",
		"unknown descriptors are none":   "@fortnightly",
		"@reboot is none":                "@reboot",
		"@every needs a duration":        "@every day",
		"blanks alone are no schedule":   "   ",
		"a negative minute is none":      "-1 * * * *",
		"a zone without a schedule":      "CRON_TZ=UTC",
		"a zone does not hide in a word": "0 3 * * * TZ",
	} {
		t.Run(sentence, func(t *testing.T) {
			registrytest.WantErrors(t, validateSchedule(text, field.NewPath("schedule")), "schedule Invalid")
		})
	}
}

func TestScheduleWithZoneNamesTheRemedy(t *testing.T) {
	errs := validateSchedule("CRON_TZ=Asia/Tokyo  0 3 * * *", field.NewPath("schedule"))
	if len(errs) != 1 || !strings.Contains(errs[0].Detail, `timeZone to "Asia/Tokyo" and write "0 3 * * *" here`) {
		t.Errorf("got %v", errs)
	}
}

func TestTimeZones(t *testing.T) {
	for _, name := range []string{"Etc/UTC", "UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "America/Port-au-Prince"} {
		registrytest.WantErrors(t, ValidateTimeZone(&name, field.NewPath("timeZone")))
	}
	registrytest.WantErrors(t, ValidateTimeZone(nil, field.NewPath("timeZone")))
	for sentence, name := range map[string]string{
		"the empty zone is none":            "",
		"Local depends on the machine":      "Local",
		"so does local":                     "local",
		"a zone must be known":              "Europe/Atlantis",
		"files elsewhere are no zones":      "../../etc/passwd",
		"nor is a directory":                "Europe/.",
		"no part is empty":                  "Europe//Berlin",
		"no zone starts at the root":        "/Europe/Berlin",
		"no part starts with a hyphen":      "Europe/-Berlin",
		"a part has 14 characters at most":  "Europe/Berlinberlinbe",
		"a zone has no blanks":              "Europe/New Berlin",
		"a POSIX rule is no zone":           "CET-1CEST,M3.5.0",
		"names are not guessed by the case": "europe/berlin",
	} {
		t.Run(sentence, func(t *testing.T) {
			registrytest.WantErrors(t, ValidateTimeZone(&name, field.NewPath("timeZone")), "timeZone Invalid")
		})
	}
}
