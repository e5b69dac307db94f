package schedule

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIntervalsMean(t *testing.T) {
	const since = "2026-03-01 12:34:56 +00:00"
	for sentence, c := range map[string]struct {
		text, zone string
		want       []string
	}{
		"five times":                             {"R5/T13:00:00/PT1H", "", []string{"2026-03-01 13:00:00 +00:00", "2026-03-01 14:00:00 +00:00", "2026-03-01 15:00:00 +00:00", "2026-03-01 16:00:00 +00:00", "2026-03-01 17:00:00 +00:00"}},
		"once":                                   {"R1/T13:00:00/PT1H", "", []string{"2026-03-01 13:00:00 +00:00"}},
		"now, and each ten seconds":              {"R3//PT10S", "", []string{"2026-03-01 12:34:56 +00:00", "2026-03-01 12:35:06 +00:00", "2026-03-01 12:35:16 +00:00"}},
		"a time that has passed is tomorrow's":   {"R1/T01:00:00/PT1H", "", []string{"2026-03-02 01:00:00 +00:00"}},
		"the time at which it was set is, too":   {"R1/T12:34:56/PT1H", "", []string{"2026-03-02 12:34:56 +00:00"}},
		"without T":                              {"R1/13:00:00/PT1H", "", []string{"2026-03-01 13:00:00 +00:00"}},
		"without seconds":                        {"R1/13:05/PT1H", "", []string{"2026-03-01 13:05:00 +00:00"}},
		"basic, without seconds":                 {"R1/T1305/PT1H", "", []string{"2026-03-01 13:05:00 +00:00"}},
		"basic":                                  {"R1/T130506/PT1H", "", []string{"2026-03-01 13:05:06 +00:00"}},
		"in the zone":                            {"R1/T14:00/PT1H", "Europe/Berlin", []string{"2026-03-01 14:00:00 +01:00"}},
		"Z is UTC in every zone":                 {"R1/T14:00Z/PT1H", "Europe/Berlin", []string{"2026-03-01 15:00:00 +01:00"}},
		"an offset":                              {"R1/T14:00+02:00/PT1H", "Europe/Berlin", []string{"2026-03-02 13:00:00 +01:00"}},
		"a basic offset":                         {"R1/T1400-0330/PT1H", "", []string{"2026-03-01 17:30:00 +00:00"}},
		"an offset of hours":                     {"R1/T14:00-03/PT1H", "", []string{"2026-03-01 17:00:00 +00:00"}},
		"tomorrow there, today here":             {"R1/T01:00+14:00/PT1H", "", []string{"2026-03-02 11:00:00 +00:00"}},
		"a date and a time":                      {"R1/2026-03-05T01:00:00/P1D", "Europe/Berlin", []string{"2026-03-05 01:00:00 +01:00"}},
		"both basic":                             {"R1/20260305T0100/P1D", "Europe/Berlin", []string{"2026-03-05 01:00:00 +01:00"}},
		"both with an offset":                    {"R1/2026-03-05T01:00:00-08:00/P1D", "", []string{"2026-03-05 09:00:00 +00:00"}},
		"a date is its midnight":                 {"R1/2026-03-05/P1D", "Europe/Berlin", []string{"2026-03-05 00:00:00 +01:00"}},
		"a basic date":                           {"R1/20260305/P1D", "", []string{"2026-03-05 00:00:00 +00:00"}},
		"runs of the past are used up":           {"R3/2026-02-28/P1D", "", []string{"2026-03-02 00:00:00 +00:00"}},
		"a start at which it was set is used up": {"R2/2026-03-01T12:34:56/P1D", "", []string{"2026-03-02 12:34:56 +00:00"}},
		"all runs are in the past":               {"R3/2020-01-01/P1D", "", nil},
		"the first is in the last year":          {"R/9999-12-31/P1D", "", []string{"9999-12-31 00:00:00 +00:00"}},
		"the second is after all years":          {"R/2026-03-05/P9000Y", "", []string{"2026-03-05 00:00:00 +00:00"}},
		"an hour and a half":                     {"R2/T13:00/PT1H30M", "", []string{"2026-03-01 13:00:00 +00:00", "2026-03-01 14:30:00 +00:00"}},
		"half an hour, with a point":             {"R2/T13:00/PT0.5H", "", []string{"2026-03-01 13:00:00 +00:00", "2026-03-01 13:30:00 +00:00"}},
		"half an hour, with a comma":             {"R2/T13:00/PT0,50H", "", []string{"2026-03-01 13:00:00 +00:00", "2026-03-01 13:30:00 +00:00"}},
		"a fraction of nothing":                  {"R2/T13:00/PT90.000S", "", []string{"2026-03-01 13:00:00 +00:00", "2026-03-01 13:01:30 +00:00"}},
		"a third and some of an hour":            {"R2/T13:00/PT0.35H", "", []string{"2026-03-01 13:00:00 +00:00", "2026-03-01 13:21:00 +00:00"}},
		"more seconds than a minute has":         {"R2/T13:00/PT90S", "", []string{"2026-03-01 13:00:00 +00:00", "2026-03-01 13:01:30 +00:00"}},
		"leading zeros":                          {"R02/T13:00/PT01H", "", []string{"2026-03-01 13:00:00 +00:00", "2026-03-01 14:00:00 +00:00"}},
		"blanks around it":                       {"  R1/T13:00/PT1H\n", "", []string{"2026-03-01 13:00:00 +00:00"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, firstDue(t, c.text, c.zone, since, 5)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.text, diff)
			}
		})
	}
}

// badIntervals are texts, each with what its error has to contain.
var badIntervals = map[string][2]string{
	"the example of the first proposal":   {"R5/T01:00:00/PT01", "no unit after 01: write PT01H, PT01M or PT01S"},
	"a date without a unit before a time": {"R//P1T1H", "no unit after 1: write P1DT1H, P1MT1H or P1YT1H (days, months or years)"},
	"a date without a unit":               {"R5/T01:00:00/P1", "write P1D, P1M or P1Y"},
	"a duration alone":                    {"PT1H", "write R//PT1H to start now"},
	"no start":                            {"R5/PT1H", "write R5//PT1H to start now"},
	"no duration":                         {"R5/T01:00:00", "2 of the three parts"},
	"four parts":                          {"R5/T01:00:00/PT1H/PT1H", "4 of the three parts"},
	"a start and an end":                  {"R5/2026-01-01/2026-01-02", `duration "2026-01-02" is malformed`},
	"an empty duration":                   {"R5/T01:00:00/", `duration "" is malformed`},
	"endless text":                        {"R5/T01:00:00/PT" + strings.Repeat("0", 200) + "1H", "at most 100"},

	"no runs":              {"R0//PT1H", "R1 for one run"},
	"fewer than no runs":   {"R-1//PT1H", "or R to run for ever"},
	"too many runs":        {"R1000000000//PT1H", "at most R999999999"},
	"more than fits":       {"R99999999999999999999//PT1H", "at most R999999999"},
	"a small r":            {"r5//PT1H", "write R5 for five runs"},
	"half a run":           {"R0.5//PT1H", "write R5 for five runs"},
	"a number without R":   {"5/T01:00:00/PT1H", "write R5 for five runs"},
	"nothing before it":    {"/T01:00:00/PT1H", "or R to run for ever"},
	"a run and a blank":    {"R5 //PT1H", "write R5 for five runs"},
	"no R, and a duration": {"P5//PT1H", "write R5 for five runs"},

	"an hour alone":              {"R/T01/PT1H", "not of the form 01:00:00"},
	"a number":                   {"R/0100/PT1H", "date that is not of the form"},
	"a year":                     {"R/2026/PT1H", "date that is not of the form"},
	"a month":                    {"R/2026-03/PT1H", "date that is not of the form"},
	"a week":                     {"R/2026-W10-1/PT1H", "date that is not of the form"},
	"a day of the year":          {"R/2026-060/PT1H", "date that is not of the form"},
	"a year of five digits":      {"R/+12026-03-01/PT1H", "date that is not of the form"},
	"half basic":                 {"R/2026-0301/PT1H", "date that is not of the form"},
	"a blank instead of T":       {"R/2026-03-01 01:00/PT1H", "write 2026-03-01T01:00:00"},
	"a small t":                  {"R/2026-03-01t01:00/PT1H", "write 2026-03-01T01:00:00"},
	"nothing after T":            {"R/2026-03-01T/PT1H", "nothing after T"},
	"only T":                     {"R/T/PT1H", "nothing after T"},
	"only a zone":                {"R/TZ/PT1H", "not of the form 01:00:00"},
	"a date with a zone":         {"R/2026-03-01Z/PT1H", "date that is not of the form"},
	"parts of a second":          {"R/T01:00:00.5/PT1H", "write whole seconds"},
	"parts of a minute":          {"R/T01:00,5/PT1H", "write whole seconds"},
	"parts of a second, UTC":     {"R/T01:00:00.5Z/PT1H", "write whole seconds"},
	"the hour 24":                {"R/T24:00:00/PT1H", "write 00:00 of the next day"},
	"the hour 25":                {"R/T25:00:00/PT1H", "hours are from 00 to 23"},
	"the minute 60":              {"R/T01:60:00/PT1H", "minutes are from 00 to 59"},
	"a leap second":              {"R/T23:59:60/PT1H", "seconds are from 00 to 59"},
	"one digit":                  {"R/1:00/PT1H", "not of the form 01:00:00"},
	"the month 13":               {"R/2026-13-01/PT1H", "months are from 01 to 12"},
	"the month 0":                {"R/2026-00-01/PT1H", "months are from 01 to 12"},
	"the day 0":                  {"R/2026-03-00/PT1H", "from 01 to 31"},
	"the day 31 of April":        {"R/2026-04-31/PT1H", "from 01 to 30"},
	"a leap day of a plain year": {"R/2026-02-29/PT1H", "from 01 to 28"},
	"the year 0":                 {"R/0000-01-01/PT1H", "years are from 0001"},
	"an offset of days":          {"R/T01:00+16:00/PT1H", "offset +16:00"},
	"an offset of 60 minutes":    {"R/T01:00+01:60/PT1H", "offset +01:60"},
	"the name of a zone":         {"R/T01:00CET/PT1H", "not of the form 01:00:00"},
	"digits of elsewhere":        {"R/T٠١:٠٠/PT1H", "not of the form 01:00:00"},

	"nothing":                        {"R//P", "the shortest is a second"},
	"no seconds":                     {"R//PT0S", "the shortest is a second"},
	"no days":                        {"R//P0D", "the shortest is a second"},
	"nothing after T in a duration":  {"R//P1DT", "nothing after T"},
	"no P":                           {"R//T1H", "write PT1H"},
	"neither P nor T":                {"R//1H", "write PT1H"},
	"neither P nor T, of days":       {"R//1D", "write P1D"},
	"no T":                           {"R//P1H", "write PT1H"},
	"T before days":                  {"R//PT1D", "write P1D"},
	"small letters":                  {"R//pt1h", "write PT1H"},
	"backwards":                      {"R//-PT1H", "malformed"},
	"backwards inside":               {"R//PT-1H", "malformed"},
	"words":                          {"R//hourly", "PT90S, PT1H30M, P1D, P1M"},
	"as if it were a date":           {"R//P0001-00-00T00:00:00", "malformed"},
	"days before months":             {"R//P1D2M", "2M in the wrong place"},
	"seconds before hours":           {"R//PT1S1H", "1H in the wrong place"},
	"two hours":                      {"R//PT1H1H", "1H in the wrong place"},
	"weeks and days":                 {"R//P1W2D", "P1W2D is P9D"},
	"weeks and hours":                {"R//P1WT2H", "weeks and something else"},
	"half a day":                     {"R//P0.5D", "P0.5D is PT12H"},
	"half a year":                    {"R//P0.5Y", "smaller units"},
	"half a second":                  {"R//PT0.5S", "whole seconds"},
	"a third of a minute":            {"R//PT0.333M", "whole seconds"},
	"a fraction without end":         {"R//PT0.0000000000001H", "whole seconds"},
	"a fraction that is not last":    {"R//PT0.5H1S", "only the smallest unit"},
	"a million years":                {"R//P1000000Y", "less than 9999 years"},
	"more years than fit":            {"R//P99999999999999999999Y", "less than 9999 years"},
	"more days than there are":       {"R//P4000000D", "less than 9999 years"},
	"more seconds than there are":    {"R//PT999999999999S", "less than 9999 years"},
	"more seconds than fit":          {"R//PT99999999999999999999S", "less than 9999 years"},
	"more hours than fit, in sum":    {"R//PT9999999999999999H", "less than 9999 years"},
	"a unit without a number":        {"R//PTH", "malformed"},
	"a fraction without a number":    {"R//PT.5H", "malformed"},
	"a fraction without digits":      {"R//PT1.H", "malformed"},
	"blanks inside":                  {"R//PT1H 30M", "malformed"},
	"a date's unit among the time's": {"R//PT1H1D", "malformed"},
}

func TestBadIntervals(t *testing.T) {
	for sentence, c := range badIntervals {
		t.Run(sentence, func(t *testing.T) {
			_, err := Parse(c[0])
			if err == nil || !strings.Contains(err.Error(), c[1]) {
				t.Errorf("%q: got %v, want %q in it", c[0], err, c[1])
			}
		})
	}
}

func TestAnEmptyTextIsAnErrorWithExamples(t *testing.T) {
	for _, text := range []string{"", "  ", "\n"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "must say when") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestACronExpressionIsNoInterval(t *testing.T) {
	for _, text := range []string{"R5//PT10S", "R/T06:00/P1D", "/P1D"} {
		if _, err := ParseCron(text); err == nil || !strings.Contains(err.Error(), "ScheduledJob") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestCronGrammar(t *testing.T) {
	for _, text := range []string{
		"* * * * *", "*/15 0-6,22 1,15 * 1-5", "0 3 * jan,JUL sun", "0 0 31 2 ?", "5/10 * * * *", "  0 3 * * *  ",
		"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly", "@every 1h30m",
	} {
		for _, parse := range []func(string) (Spec, error){ParseCron, Parse} {
			if _, err := parse(text); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
	for sentence, c := range map[string][2]string{
		"four fields":               {"* * * *", "write MINUTE HOUR DAY-OF-MONTH MONTH DAY-OF-WEEK"},
		"six fields":                {"0 * * * * *", "write MINUTE"},
		"the minute 60":             {"60 * * * *", "above maximum (59)"},
		"the weekday 7":             {"0 0 * * 7", "above maximum (6)"},
		"a step of nothing":         {"*/0 * * * *", "positive number"},
		"a descriptor that is none": {"@fortnightly", "@weekly, @monthly"},
		"@every of words":           {"@every day", "failed to parse duration"},
		"@every of days":            {"@every 1d", "@every 24h"},
		"a zone":                    {"CRON_TZ=Asia/Tokyo  0 3 * * *", `set timeZone to "Asia/Tokyo" and write "0 3 * * *" here`},
		"the other zone":            {"TZ=UTC @daily", `set timeZone to "UTC" and write "@daily" here`},
		"a zone alone":              {"TZ=UTC", "set timeZone instead"},
		"a zone of one digit":       {"TZ=0", "set timeZone instead"},
		"a zone at the end":         {"0 3 * * * TZ=UTC", "set timeZone instead"},
	} {
		t.Run(sentence, func(t *testing.T) {
			for _, parse := range []func(string) (Spec, error){ParseCron, Parse} {
				if _, err := parse(c[0]); err == nil || !strings.Contains(err.Error(), c[1]) {
					t.Errorf("%q: got %v, want %q in it", c[0], err, c[1])
				}
			}
		})
	}
	if _, err := ParseCron("R5//PT1H"); err == nil {
		t.Error("a CronJob takes an interval")
	}
}

func TestZones(t *testing.T) {
	for _, name := range []string{"Etc/UTC", "UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "America/Port-au-Prince"} {
		if z, err := LoadZone(name); err != nil || z.String() != name {
			t.Errorf("%q is %v (%v)", name, z, err)
		}
	}
	if z, err := LoadZone(""); err != nil || z.String() != "UTC" {
		t.Errorf("no name is %v (%v)", z, err)
	}
	for sentence, c := range map[string][2]string{
		"Local":            {"Local", "must not depend on the machine"},
		"local":            {"local", "must not depend on the machine"},
		"nowhere":          {"Europe/Atlantis", "Europe/Berlin"},
		"a file":           {"../../etc/passwd", "unknown time zone"},
		"an absolute file": {"/etc/localtime", "unknown time zone"},
		"a directory":      {"Europe", "unknown time zone"},
		"a POSIX rule":     {"CET-1CEST,M3.5.0", "unknown time zone"},
		"an offset":        {"+02:00", "unknown time zone"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if _, err := LoadZone(c[0]); err == nil || !strings.Contains(err.Error(), c[1]) {
				t.Errorf("%q: got %v, want %q in it", c[0], err, c[1])
			}
		})
	}
}
