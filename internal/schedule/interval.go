package schedule

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const intervalExample = "R5/T01:00:00/PT1H is five times, every hour, first at 01:00"

// maxLength bounds the text of an interval, in bytes: far more than any interval needs.
const maxLength = 100

// maxRuns is how many runs an interval may have: enough for one every second for thirty years.
const maxRuns = 999_999_999

// ParseInterval parses a repeating interval of ISO 8601, R[n]/<start>/<duration>: n due times (without n: for ever), the
// first at start, one duration apart. Each is start + k durations, so that a month that is too short for a day does not
// move those after it.
func ParseInterval(text string) (Spec, error) {
	if len(text) > maxLength {
		return Spec{}, fmt.Errorf("has %d characters: an interval has at most %d; %s", len(text), maxLength, intervalExample)
	}
	parts := strings.Split(strings.TrimSpace(text), "/")
	if len(parts) != 3 {
		return Spec{}, fmt.Errorf("%q has %d of the three parts of R[n]/<start>/<duration>%s", text, len(parts), threeParts(parts))
	}
	n, err := parseRuns(parts[0])
	if err != nil {
		return Spec{}, err
	}
	s, err := parseStart(parts[1])
	if err != nil {
		return Spec{}, err
	}
	d, err := parseDuration(parts[2])
	if err != nil {
		return Spec{}, err
	}
	return Spec{in: func(zone *time.Location, since int64) sequence {
		return between(s.in(zone, since), n, d, since)
	}}, nil
}

// threeParts returns what an interval that does not have three parts was probably meant to be.
func threeParts(parts []string) string {
	switch last := parts[len(parts)-1]; {
	case !strings.HasPrefix(last, "P"):
		return "; " + intervalExample
	case len(parts) == 1:
		return fmt.Sprintf("; write R//%s to start now and go on for ever", last)
	case len(parts) == 2:
		return fmt.Sprintf("; write %s//%s to start now", parts[0], last)
	}
	return ""
}

var runsPattern = regexp.MustCompile(`^R([0-9]*)$`)

// parseRuns parses the number of due times.
func parseRuns(text string) (int64, error) {
	m := runsPattern.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("repetitions %q are none: write R5 for five runs, or R to run for ever", text)
	}
	if m[1] == "" {
		return math.MaxInt64, nil
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	switch {
	case err != nil || n > maxRuns:
		return 0, fmt.Errorf("repetitions %q are too many: write at most R%d, or R to run for ever", text, maxRuns)
	case n == 0:
		return 0, fmt.Errorf("repetitions %q are no runs at all: write R1 for one run, or R to run for ever", text)
	}
	return n, nil
}

// between returns n times from a on, one duration apart, without those at or before since. If a.due, a itself is kept.
func between(a anchor, n int64, d duration, since int64) progression {
	p := progression{at: d.from(a), start: a.at, shortest: d.shortest(), longest: d.longest()}
	p.end = min(n, max(0, lastSecond-a.at+clockChangeMargin)/p.shortest+1)
	p.end = p.following(lastSecond)
	if !a.due {
		p.first = p.following(since)
	}
	return p
}
