package schedule_test

import (
	"fmt"
	"time"

	"github.com/stint-dev/stint/internal/schedule"
)

// A schedule is parsed first, and then given a time zone and a beginning. The clocks of this zone change on March 29.
func ExampleParse() {
	spec, err := schedule.Parse("30 6 * * mon-fri")
	if err != nil {
		fmt.Println(err)
		return
	}
	berlin, err := schedule.LoadZone("Europe/Berlin")
	if err != nil {
		fmt.Println(err)
		return
	}
	friday := time.Date(2026, 3, 27, 12, 0, 0, 0, time.UTC)

	for _, due := range spec.In(berlin, friday).Due(friday, friday.AddDate(0, 0, 7), 3) {
		fmt.Println(due.In(berlin).Format(time.RFC1123Z))
	}
	// Output:
	// Mon, 30 Mar 2026 06:30:00 +0200
	// Tue, 31 Mar 2026 06:30:00 +0200
	// Wed, 01 Apr 2026 06:30:00 +0200
}

// A repeating interval of months keeps the day of its start. In a shorter month it is due on the last day.
func ExampleParseInterval() {
	spec, err := schedule.ParseInterval("R4/2026-01-31T09:00:00Z/P1M")
	if err != nil {
		fmt.Println(err)
		return
	}
	created := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

	for _, due := range spec.In(time.UTC, created).Due(created, created.AddDate(1, 0, 0), 10) {
		fmt.Println(due.Format(time.DateTime))
	}
	// Output:
	// 2026-01-31 09:00:00
	// 2026-02-28 09:00:00
	// 2026-03-31 09:00:00
	// 2026-04-30 09:00:00
}

// An error says what would be right.
func ExampleParseCron() {
	_, err := schedule.ParseCron("0 25 * * *")
	fmt.Println(err)
	// Output:
	// end of range (25) above maximum (23): 25; write MINUTE HOUR DAY-OF-MONTH MONTH DAY-OF-WEEK, or @hourly, @daily, @weekly, @monthly, @yearly, @every 24h
}
