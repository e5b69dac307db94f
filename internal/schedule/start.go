package schedule

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// start is the second part of an interval.
type start struct {
	now  bool           // the start is empty
	date *wallClock     // nil if there is only a time
	time int64          // of the day, in seconds
	zone *time.Location // nil if there is no offset
}

// in returns where a schedule that came into force at since starts.
func (s start) in(zone *time.Location, since int64) anchor {
	if s.now {
		return anchor{at: since, zone: zone, due: true}
	}
	if s.zone != nil {
		zone = s.zone
	}
	if s.date != nil {
		return anchorAt(*s.date+wallClock(s.time), zone)
	}
	shown := since + spanAt(zone, since).offset
	// Begin with the day before, as clocks may have been set back over midnight.
	for d := dayOf(shown) - 1; ; d++ {
		if a := anchorAt(wallClock(d*day+s.time), zone); a.at > since {
			return a
		}
	}
}

// anchor is where an interval starts.
type anchor struct {
	at   int64
	wall *wallClock
	zone *time.Location
	// due reports whether the start is due although it is not after the time at which the schedule came into force.
	due bool
}

func anchorAt(w wallClock, zone *time.Location) anchor {
	return anchor{at: w.instant(zone), wall: &w, zone: zone}
}

var (
	datePattern = regexp.MustCompile(`^([0-9]{4})-([0-9]{2})-([0-9]{2})$|^([0-9]{4})([0-9]{2})([0-9]{2})$`)
	timePattern = regexp.MustCompile(`^([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?$|^([0-9]{2})([0-9]{2})([0-9]{2})?$`)
	zonePattern = regexp.MustCompile(`^(.*?)(?:(Z)|([+-])([0-9]{2})(?::?([0-9]{2}))?)$`)
)

const startRemedy = "write 2026-03-01T01:00:00, T01:00:00, or nothing to start now"

func parseStart(text string) (start, error) {
	if text == "" {
		return start{now: true}, nil
	}
	s, err := parseStartParts(text)
	if err != nil {
		return s, fmt.Errorf("start %q %w", text, err)
	}
	return s, nil
}

func parseStartParts(text string) (start, error) {
	var s start
	date, clock, hasT := strings.Cut(text, "T")
	if !hasT && strings.Contains(date, ":") {
		date, clock = "", date
	}
	if date != "" {
		w, err := parseDate(date)
		if err != nil {
			return s, err
		}
		s.date = &w
	}
	if clock == "" {
		if hasT {
			return s, errors.New("has nothing after T: " + startRemedy)
		}
		return s, nil
	}
	clock, zone, err := cutZone(clock)
	if err != nil {
		return s, err
	}
	s.zone = zone
	s.time, err = parseClock(clock)
	return s, err
}

func parseDate(text string) (wallClock, error) {
	m := datePattern.FindStringSubmatch(text)
	if m == nil {
		return 0, errors.New("has a date that is not of the form 2026-03-01 or 20260301: " + startRemedy)
	}
	year, month, dayOfMonth := number(m[1]+m[4]), number(m[2]+m[5]), number(m[3]+m[6])
	switch {
	case year == 0:
		return 0, errors.New("is in the year 0: years are from 0001 to 9999")
	case month < 1 || month > 12:
		return 0, fmt.Errorf("has the month %02d: months are from 01 to 12", month)
	}
	if last := time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day(); dayOfMonth < 1 || dayOfMonth > last {
		return 0, fmt.Errorf("has the day %02d: days of this month are from 01 to %d", dayOfMonth, last)
	}
	return midnight(year, month, dayOfMonth), nil
}

func parseClock(text string) (int64, error) {
	m := timePattern.FindStringSubmatch(text)
	switch {
	case strings.ContainsAny(text, ".,"):
		return 0, errors.New("has a fraction: write whole seconds")
	case m == nil:
		return 0, errors.New("has a time that is not of the form 01:00:00, 01:00, 010000 or 0100: " + startRemedy)
	}
	h, mi, s := number(m[1]+m[4]), number(m[2]+m[5]), number(m[3]+m[6])
	switch {
	case h == 24:
		return 0, errors.New("has the hour 24: write 00:00 of the next day")
	case h > 23:
		return 0, fmt.Errorf("has the hour %d: hours are from 00 to 23", h)
	case mi > 59:
		return 0, fmt.Errorf("has the minute %d: minutes are from 00 to 59", mi)
	case s > 59:
		return 0, fmt.Errorf("has the second %d: seconds are from 00 to 59", s)
	}
	return int64(h*hour + mi*minute + s), nil
}

// cutZone splits Z or an offset off a time.
func cutZone(text string) (string, *time.Location, error) {
	m := zonePattern.FindStringSubmatch(text)
	switch {
	case m == nil:
		return text, nil, nil
	case m[2] == "Z":
		return m[1], time.UTC, nil
	}
	h, mi := number(m[4]), number(m[5])
	if h > 15 || mi > 59 {
		return "", nil, fmt.Errorf("has the offset %s: write Z, or hours up to 15 and minutes as in +02:00", text[len(m[1]):])
	}
	offset := h*hour + mi*minute
	if m[3] == "-" {
		offset = -offset
	}
	return m[1], time.FixedZone("", offset), nil
}

// number converts digits that a pattern has matched; "" is 0.
func number(digits string) int {
	n, _ := strconv.Atoi(digits) //nolint:errcheck // Digits, and few of them.
	return n
}
