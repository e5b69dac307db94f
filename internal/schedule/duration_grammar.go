package schedule

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

const (
	dateUnits = "YMWD"
	timeUnits = "HMS"
)

var (
	durationPattern = regexp.MustCompile(`^P((?:[0-9]+(?:[.,][0-9]+)?[YMWD]?)*)(?:(T)((?:[0-9]+(?:[.,][0-9]+)?[HMS]?)*))?$`)
	elementPattern  = regexp.MustCompile(`([0-9]+)(?:[.,]([0-9]+))?([A-Z]?)`)
)

// element is a number and its unit, such as 90M.
type element struct {
	text, whole, fraction, unit string
}

func parseDuration(text string) (duration, error) {
	m := durationPattern.FindStringSubmatch(text)
	if m == nil {
		return duration{}, fmt.Errorf("duration %q is malformed: %s", text, suggestDuration(text))
	}
	date, clock := elementsOf(m[1]), elementsOf(m[3])
	if err := checkElements(text, date, dateUnits, "DMY"); err != nil {
		return duration{}, err
	}
	if err := checkElements(text, clock, timeUnits, timeUnits); err != nil {
		return duration{}, err
	}
	switch {
	case m[2] != "" && len(clock) == 0:
		return duration{}, fmt.Errorf("duration %q has nothing after T: write PT1H for an hour, P1D for a day", text)
	case strings.Contains(m[1], "W") && len(date)+len(clock) > 1:
		return duration{}, fmt.Errorf("duration %q has weeks and something else: write days for the weeks (P1W2D is P9D)", text)
	}
	return sum(text, date, clock)
}

func elementsOf(text string) []element {
	var all []element
	for _, m := range elementPattern.FindAllStringSubmatch(text, -1) {
		all = append(all, element{text: m[0], whole: m[1], fraction: m[2], unit: m[3]})
	}
	return all
}

// checkElements returns an error unless all elements have units, in order and each at most once. offered are the units that
// the error proposes.
func checkElements(text string, all []element, units, offered string) error {
	last := -1
	for _, e := range all {
		if e.unit == "" {
			return fmt.Errorf("duration %q has no unit after %s: write %s", text, e.text, withUnits(text, offered))
		}
		at := strings.Index(units, e.unit)
		if at <= last {
			return fmt.Errorf("duration %q has %s in the wrong place: the order is PnYnMnDTnHnMnS, each at most once", text, e.text)
		}
		last = at
	}
	return nil
}

// withUnits returns a proposal: text, whose date or time ends in a number, with each of the units after that number.
func withUnits(text, units string) string {
	before, after := text, ""
	if at := strings.Index(text, "T"); at >= 0 && units != timeUnits {
		before, after = text[:at], text[at:]
	}
	var all []string
	for _, unit := range strings.Split(units, "") {
		all = append(all, before+unit+after)
	}
	names := map[string]string{"DMY": "days, months or years", timeUnits: "hours, minutes or seconds"}
	last := len(all) - 1
	return fmt.Sprintf("%s or %s (%s)", strings.Join(all[:last], ", "), all[last], names[units])
}

// sum returns the duration that the elements add up to.
func sum(text string, date, clock []element) (duration, error) {
	var d duration
	for _, e := range date {
		n, err := strconv.ParseInt(e.whole, 10, 32)
		switch {
		case e.fraction != "":
			return d, fmt.Errorf("duration %q has a part of a calendar unit in %s: write it in smaller units (P0.5D is PT12H)", text, e.text)
		case err != nil:
			return d, tooLong(text)
		}
		switch e.unit {
		case "Y":
			d.months += n * 12
		case "M":
			d.months += n
		case "W":
			d.days += n * 7
		case "D":
			d.days += n
		}
	}
	for i, e := range clock {
		n, err := e.seconds(i == len(clock)-1)
		if err != nil {
			return d, fmt.Errorf("duration %q: %w", text, err)
		}
		d.seconds += n
	}
	switch {
	case d == duration{}:
		return d, fmt.Errorf("duration %q is none: the shortest is a second, PT1S", text)
	case d.months > maxMonths || d.days > maxDays || d.seconds > maxSeconds:
		return d, tooLong(text)
	}
	return d, nil
}

func tooLong(text string) error {
	return fmt.Errorf("duration %q is too long: write less than 9999 years", text)
}

// seconds returns an element of the time part in seconds. Only the last one may have a fraction, if it makes whole seconds.
func (e element) seconds(last bool) (int64, error) {
	unit := map[string]int64{"H": hour, "M": minute, "S": 1}[e.unit]
	n, err := strconv.ParseInt(e.whole, 10, 64)
	if err != nil || n > maxSeconds/unit {
		return 0, fmt.Errorf("%s is too long: write less than 9999 years", e.text)
	}
	fraction := strings.TrimRight(e.fraction, "0")
	if fraction == "" {
		return n * unit, nil
	}
	if !last {
		return 0, fmt.Errorf("%s is not the last: only the smallest unit may have a fraction", e.text)
	}
	scale := int64(1)
	for range min(len(fraction), 9) {
		scale *= 10
	}
	parts, err := strconv.ParseInt(fraction, 10, 64)
	if err != nil || len(fraction) > 9 || parts*unit%scale != 0 {
		return 0, fmt.Errorf("%s is not a whole number of seconds: due times are whole seconds", e.text)
	}
	return n*unit + parts*unit/scale, nil
}

// suggestDuration guesses what a malformed duration was meant to be.
func suggestDuration(text string) string {
	upper := strings.ToUpper(text)
	candidates := []string{
		upper,
		"P" + upper,
		"PT" + upper,
		strings.Replace(upper, "P", "PT", 1), // P1H
		strings.Replace(upper, "PT", "P", 1), // PT1D
	}
	for _, candidate := range candidates {
		if candidate != text && durationPattern.MatchString(candidate) {
			if _, err := parseDuration(candidate); err == nil {
				return "write " + candidate
			}
		}
	}
	return "write PnYnMnDTnHnMnS or PnW: PT90S, PT1H30M, P1D, P1M"
}
