package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// row is one of the table: | GO-2026-1234 | 2026-12-31 | why |
var row = regexp.MustCompile(`^\| *(GO-[0-9]+-[0-9]+) *\| *([^| ]*) *\| *([^|]*?) *\|$`)

// readAccepted returns until when each vulnerability of the list is accepted, that day included.
func readAccepted(text string) (map[string]time.Time, error) {
	accepted := map[string]time.Time{}
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "| GO-") {
			continue
		}
		cells := row.FindStringSubmatch(line)
		if cells == nil || cells[3] == "" {
			return nil, fmt.Errorf("want | GO-YEAR-NUMBER | YYYY-MM-DD | why |, got %s", line)
		}
		until, err := time.Parse(time.DateOnly, cells[2])
		if err != nil {
			return nil, err
		}
		accepted[cells[1]] = until
	}
	return accepted, nil
}
