package main

import (
	"fmt"
	"strings"
)

// The grammar of internal/schedule, as far as regular expressions can express it. They accept everything that it accepts.
var (
	month     = `(0[1-9]|1[0-2])`
	dayNumber = `(0[1-9]|[12][0-9]|3[01])`
	date      = `[0-9]{4}(-` + month + `-` + dayNumber + `|` + month + dayNumber + `)`
	hour      = `([01][0-9]|2[0-3])`
	sixty     = `[0-5][0-9]`
	clock     = `(` + hour + `:` + sixty + `(:` + sixty + `)?|` + hour + sixty + `(` + sixty + `)?)`
	offset    = `(Z|[+-](0[0-9]|1[0-5])(:?` + sixty + `)?)?`
	// A time without T is recognised by its colon.
	start = `(` + date + `)?(T` + clock + offset + `)?|[0-9]{2}[0-9:]*:[0-9:]*` + offset + `|` + clock + `[+-][0-9]{2}:[0-9]{2}`

	amount   = `[0-9]+([.,][0-9]+)?`
	clockSum = `T(` + amount + `H(` + amount + `M)?(` + amount + `S)?|` + amount + `M(` + amount + `S)?|` + amount + `S)`
	duration = `P([0-9]+W|([0-9]+Y)?([0-9]+M)?([0-9]+D)?(` + clockSum + `)?)`
	interval = `\s*R(0*[1-9][0-9]{0,8})?/(` + start + `)/` + duration + `\s*`

	named = `@(yearly|annually|monthly|weekly|daily|midnight|hourly|every [-+]?(0|([0-9.]+(h|m|s|ms|us|µs|μs|ns))+))`
	cron  = `\s*` + strings.Join([]string{
		cronField(`0*[0-5]?[0-9]`),
		cronField(`0*(1?[0-9]|2[0-3])`),
		cronField(`0*([1-9]|[12][0-9]|3[01])`),
		cronField(`(0*([1-9]|1[0-2])|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))`),
		cronField(`(0*[0-6]|(?i:sun|mon|tue|wed|thu|fri|sat))`),
	}, `\s+`) + `\s*`

	timeSpec = `^(` + interval + `|` + named + `|` + cron + `)$`
)

// cronField is a list of numbers, ranges and steps.
func cronField(number string) string {
	item := `([*?](-[^,/\s]*)?|` + number + `(-` + number + `)?)(/0*[1-9][0-9]*)?`
	return `(,+|,*` + item + `(,+` + item + `)*,*)`
}

// timeSpecRules report most mistakes when the object is written. The controller reports the others.
func timeSpecRules() []any {
	return []any{
		node{
			"rule": fmt.Sprintf("self.matches(r'%s')", timeSpec),
			"message": "write an interval, R[n]/START/DURATION, such as R5/T01:00:00/PT1H or R//PT10M, " +
				"or a cron expression of five fields, such as 0 3 * * *",
		},
		node{
			"rule":    `!self.matches('^\\s*R') || self.matches('/P[^/]*[1-9][^/]*$')`,
			"message": "the duration is none: the shortest is a second, PT1S",
		},
	}
}
