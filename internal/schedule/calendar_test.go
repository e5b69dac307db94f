package schedule

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	berlin   = "Europe/Berlin"
	newYork  = "America/New_York"
	lordHowe = "Australia/Lord_Howe" // Its clocks change by half an hour.
)

type calendarCase struct {
	spec, zone, since string
	want              []string
}

func checkCalendar(t *testing.T, cases map[string]calendarCase) {
	t.Helper()
	for sentence, c := range cases {
		t.Run(sentence, func(t *testing.T) {
			got := firstDue(t, c.spec, c.zone, c.since, len(c.want))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.spec, diff)
			}
		})
	}
}

func TestIntervalsOverChangesOfTheClocks(t *testing.T) {
	checkCalendar(t, map[string]calendarCase{
		"a day is the same time of the next, in spring": {"R/2026-03-28T12:00/P1D", berlin, "2026-03-01 00:00:00 +00:00", []string{
			"2026-03-28 12:00:00 +01:00", "2026-03-29 12:00:00 +02:00", "2026-03-30 12:00:00 +02:00"}},
		"24 hours are 24 hours, in spring": {"R/2026-03-28T12:00/PT24H", berlin, "2026-03-01 00:00:00 +00:00", []string{
			"2026-03-28 12:00:00 +01:00", "2026-03-29 13:00:00 +02:00", "2026-03-30 13:00:00 +02:00"}},
		"a day is the same time of the next, in autumn": {"R/2026-10-24T12:00/P1D", berlin, "2026-03-01 00:00:00 +00:00", []string{
			"2026-10-24 12:00:00 +02:00", "2026-10-25 12:00:00 +01:00", "2026-10-26 12:00:00 +01:00"}},
		"24 hours are 24 hours, in autumn": {"R/2026-10-24T12:00/PT24H", berlin, "2026-03-01 00:00:00 +00:00", []string{
			"2026-10-24 12:00:00 +02:00", "2026-10-25 11:00:00 +01:00", "2026-10-26 11:00:00 +01:00"}},
		"a time that is left out is met when it would have come, in Berlin": {"R/2026-03-28T02:30/P1D", berlin, "2026-03-01 00:00:00 +00:00", []string{
			"2026-03-28 02:30:00 +01:00", "2026-03-29 03:30:00 +02:00", "2026-03-30 02:30:00 +02:00"}},
		"a time that is left out is met when it would have come, in New York": {"R/2026-03-07T02:30/P1D", newYork, "2026-03-01 00:00:00 +00:00", []string{
			"2026-03-07 02:30:00 -05:00", "2026-03-08 03:30:00 -04:00", "2026-03-09 02:30:00 -04:00"}},
		"a time that is left out is met when it would have come, on Lord Howe": {"R/2026-10-03T02:10/P1D", lordHowe, "2026-03-01 00:00:00 +00:00", []string{
			"2026-10-03 02:10:00 +10:30", "2026-10-04 02:40:00 +11:00", "2026-10-05 02:10:00 +11:00"}},
		"the first of two times counts, in Berlin": {"R/2026-10-24T02:30/P1D", berlin, "2026-03-01 00:00:00 +00:00", []string{
			"2026-10-24 02:30:00 +02:00", "2026-10-25 02:30:00 +02:00", "2026-10-26 02:30:00 +01:00"}},
		"the first of two times counts, in New York": {"R/2026-10-31T01:30/P1D", newYork, "2026-03-01 00:00:00 +00:00", []string{
			"2026-10-31 01:30:00 -04:00", "2026-11-01 01:30:00 -04:00", "2026-11-02 01:30:00 -05:00"}},
		"the first of two times counts, on Lord Howe": {"R/2026-04-04T01:45/P1D", lordHowe, "2026-03-01 00:00:00 +00:00", []string{
			"2026-04-04 01:45:00 +11:00", "2026-04-05 01:45:00 +11:00", "2026-04-06 01:45:00 +10:30"}},
		"hours go on evenly, in spring": {"R/2026-03-29T01:00/PT1H", berlin, "2026-03-01 00:00:00 +00:00", []string{
			"2026-03-29 01:00:00 +01:00", "2026-03-29 03:00:00 +02:00", "2026-03-29 04:00:00 +02:00"}},
		"hours go on evenly, in autumn": {"R/2026-10-25T01:00/PT1H", berlin, "2026-03-01 00:00:00 +00:00", []string{
			"2026-10-25 01:00:00 +02:00", "2026-10-25 02:00:00 +02:00", "2026-10-25 02:00:00 +01:00", "2026-10-25 03:00:00 +01:00"}},
		"a start in an hour that comes twice is the first": {"R/2026-10-25T02:30/PT1H", berlin, "2026-03-01 00:00:00 +00:00", []string{
			"2026-10-25 02:30:00 +02:00", "2026-10-25 02:30:00 +01:00"}},
		"a start that is left out is met when it would have come, days later it is itself": {"R/2026-03-29T02:30/P1D", berlin, "2026-03-01 00:00:00 +00:00", []string{
			"2026-03-29 03:30:00 +02:00", "2026-03-30 02:30:00 +02:00"}},
		"taken up in an hour for the second time": {"R//P1D", berlin, "2026-10-25 02:30:00 +01:00", []string{
			"2026-10-25 02:30:00 +01:00", "2026-10-26 02:30:00 +01:00"}},
		"a bare time that is left out is met when it would have come": {"R/02:30/P1D", berlin, "2026-03-29 00:00:00 +01:00", []string{
			"2026-03-29 03:30:00 +02:00", "2026-03-30 02:30:00 +02:00"}},
		"a bare time that comes again counts only once": {"R/02:30/P1D", berlin, "2026-10-25 02:30:00 +02:00", []string{
			"2026-10-26 02:30:00 +01:00", "2026-10-27 02:30:00 +01:00"}},
		"days are of the calendar, hours exact": {"R/2026-03-27T12:00/P1DT2H", berlin, "2026-03-01 00:00:00 +00:00", []string{
			"2026-03-27 12:00:00 +01:00", "2026-03-28 14:00:00 +01:00", "2026-03-29 16:00:00 +02:00", "2026-03-30 18:00:00 +02:00"}},
		"a start with an offset keeps it": {"R/2026-03-28T12:00+01:00/P1D", berlin, "2026-03-01 00:00:00 +00:00", []string{
			"2026-03-28 12:00:00 +01:00", "2026-03-29 13:00:00 +02:00", "2026-03-30 13:00:00 +02:00"}},
		"a day that a country left out is met between its neighbours": {"R/2011-12-29T10:00/P1D", "Pacific/Apia", "2011-01-01 00:00:00 +00:00", []string{
			"2011-12-29 10:00:00 -10:00", "2011-12-29 22:00:00 -10:00", "2011-12-31 10:00:00 +14:00", "2012-01-01 10:00:00 +14:00"}},
	})
}

func TestIntervalsOverMonthsAndYears(t *testing.T) {
	checkCalendar(t, map[string]calendarCase{
		"a month from the 31st is the last day of shorter ones": {"R/2026-01-31T08:00/P1M", berlin, "2026-01-01 00:00:00 +00:00", []string{
			"2026-01-31 08:00:00 +01:00", "2026-02-28 08:00:00 +01:00", "2026-03-31 08:00:00 +02:00", "2026-04-30 08:00:00 +02:00", "2026-05-31 08:00:00 +02:00"}},
		"wherever one asks":       {"R/2026-01-31T08:00/P1M", "UTC", "2026-02-28 08:00:00 +00:00", []string{"2026-03-31 08:00:00 +00:00"}},
		"February of a leap year": {"R/2028-01-30/P1M", "UTC", "2028-01-31 00:00:00 +00:00", []string{"2028-02-29 00:00:00 +00:00", "2028-03-30 00:00:00 +00:00"}},
		"a year from a leap day":  {"R/2024-02-29/P1Y", "UTC", "2024-01-01 00:00:00 +00:00", []string{"2024-02-29 00:00:00 +00:00", "2025-02-28 00:00:00 +00:00", "2026-02-28 00:00:00 +00:00", "2027-02-28 00:00:00 +00:00", "2028-02-29 00:00:00 +00:00"}},
		"four years from a leap day, over the year without one": {"R/2096-02-29/P4Y", "UTC", "2096-01-01 00:00:00 +00:00", []string{
			"2096-02-29 00:00:00 +00:00", "2100-02-28 00:00:00 +00:00", "2104-02-29 00:00:00 +00:00"}},
		"months go over the end of the year": {"R/2026-11-30/P3M", "UTC", "2026-01-01 00:00:00 +00:00", []string{
			"2026-11-30 00:00:00 +00:00", "2027-02-28 00:00:00 +00:00", "2027-05-30 00:00:00 +00:00"}},
		"a month and a day: first the month, then the day": {"R/2026-01-31/P1M1D", "UTC", "2026-01-01 00:00:00 +00:00", []string{
			"2026-01-31 00:00:00 +00:00", "2026-03-01 00:00:00 +00:00", "2026-04-02 00:00:00 +00:00"}},
		"weeks":                       {"R/2026-12-28/P1W", "UTC", "2026-01-01 00:00:00 +00:00", []string{"2026-12-28 00:00:00 +00:00", "2027-01-04 00:00:00 +00:00"}},
		"the last second of the year": {"R/2026-12-31T23:59:59/PT1S", "UTC", "2026-01-01 00:00:00 +00:00", []string{"2026-12-31 23:59:59 +00:00", "2027-01-01 00:00:00 +00:00"}},
		"a start long ago":            {"R/0001-01-01/P1Y", "UTC", "2026-06-01 00:00:00 +00:00", []string{"2027-01-01 00:00:00 +00:00"}},
	})
}

func TestCronOverChangesOfTheClocks(t *testing.T) {
	checkCalendar(t, map[string]calendarCase{
		"a time that is left out is not due, in Berlin":     {"30 2 * * *", berlin, "2026-03-28 00:00:00 +01:00", []string{"2026-03-28 02:30:00 +01:00", "2026-03-30 02:30:00 +02:00"}},
		"a time that is left out is not due, in New York":   {"30 2 * * *", newYork, "2026-03-07 00:00:00 -05:00", []string{"2026-03-07 02:30:00 -05:00", "2026-03-09 02:30:00 -04:00"}},
		"a time that is left out is not due, on Lord Howe":  {"15 2 * * *", lordHowe, "2026-10-03 00:00:00 +10:30", []string{"2026-10-03 02:15:00 +10:30", "2026-10-05 02:15:00 +11:00"}},
		"a time that comes twice is due twice, in Berlin":   {"30 2 * * *", berlin, "2026-10-25 00:00:00 +02:00", []string{"2026-10-25 02:30:00 +02:00", "2026-10-25 02:30:00 +01:00", "2026-10-26 02:30:00 +01:00"}},
		"a time that comes twice is due twice, in New York": {"30 1 * * *", newYork, "2026-11-01 00:00:00 -04:00", []string{"2026-11-01 01:30:00 -04:00", "2026-11-01 01:30:00 -05:00", "2026-11-02 01:30:00 -05:00"}},
		"a time that comes twice is due twice, on Lord Howe": {"45 1 * * *", lordHowe, "2026-04-05 00:00:00 +11:00", []string{
			"2026-04-05 01:45:00 +11:00", "2026-04-05 01:45:00 +10:30", "2026-04-06 01:45:00 +10:30"}},
		"hours go on, in spring": {"0 * * * *", berlin, "2026-03-29 00:30:00 +01:00", []string{"2026-03-29 01:00:00 +01:00", "2026-03-29 03:00:00 +02:00"}},
		"hours go on, in autumn": {"0 * * * *", berlin, "2026-10-25 01:30:00 +02:00", []string{"2026-10-25 02:00:00 +02:00", "2026-10-25 02:00:00 +01:00", "2026-10-25 03:00:00 +01:00"}},
		"a day without a midnight has its other hours": {"0 0,3 * * 0", "America/Santiago", "2026-08-31 00:00:00 +00:00", []string{
			"2026-09-06 03:00:00 -03:00", "2026-09-13 00:00:00 -03:00", "2026-09-13 03:00:00 -03:00"}},
		"leap days":                             {"0 0 29 2 *", "UTC", "2026-01-01 00:00:00 +00:00", []string{"2028-02-29 00:00:00 +00:00", "2032-02-29 00:00:00 +00:00"}},
		"leap days, eight years apart":          {"0 0 29 2 *", "UTC", "2096-03-01 00:00:00 +00:00", []string{"2104-02-29 00:00:00 +00:00"}},
		"month ends":                            {"0 0 31 * *", "UTC", "2026-02-01 00:00:00 +00:00", []string{"2026-03-31 00:00:00 +00:00", "2026-05-31 00:00:00 +00:00"}},
		"year ends":                             {"59 23 31 12 *", newYork, "2026-12-31 23:00:00 -05:00", []string{"2026-12-31 23:59:00 -05:00", "2027-12-31 23:59:00 -05:00"}},
		"days and weekdays: either":             {"0 0 13 * 5", "UTC", "2026-03-01 00:00:00 +00:00", []string{"2026-03-06 00:00:00 +00:00", "2026-03-13 00:00:00 +00:00", "2026-03-20 00:00:00 +00:00"}},
		"days with a star and weekdays: both":   {"0 0 * * 5", "UTC", "2026-03-01 00:00:00 +00:00", []string{"2026-03-06 00:00:00 +00:00", "2026-03-13 00:00:00 +00:00"}},
		"every other day restricts days":        {"0 0 */2 * 1", "UTC", "2026-03-01 00:00:00 +00:00", []string{"2026-03-02 00:00:00 +00:00", "2026-03-03 00:00:00 +00:00", "2026-03-05 00:00:00 +00:00"}},
		"every 90 minutes from when it was set": {"@every 90m", berlin, "2026-03-29 00:30:00 +01:00", []string{"2026-03-29 03:00:00 +02:00", "2026-03-29 04:30:00 +02:00"}},
		"every is at least a second":            {"@every -1h", "UTC", "2026-03-01 00:00:00 +00:00", []string{"2026-03-01 00:00:01 +00:00", "2026-03-01 00:00:02 +00:00"}},
		"a zone whose offset has seconds":       {"0 12 * * *", "Africa/Monrovia", "1970-01-01 00:00:00 +00:00", []string{"1970-01-01 12:00:00 -00:44"}},
	})
}
