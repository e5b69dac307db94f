package differential_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
)

var walks = flag.Int("walks", 30, "how many random walks of a Job through its statuses")

const stepsOfAWalk = 15

// walkStarts are changes of the base indexed. A walk starts at one of them.
var walkStarts = []object{
	{},
	{"parallelism": 2},
	{"completions": 0, "suspend": true},
	{"suspend": true},
	{"backoffLimitPerIndex": 1},
	{"backoffLimitPerIndex": 1, "maxFailedIndexes": 2, "parallelism": 3},
	{"successPolicy": object{"rules": []any{object{"succeededCount": 1}}}},
	{"completionMode": "NonIndexed"},
	{"completionMode": "NonIndexed", "completions": nil},
	{"managedBy": "example.com/x"},
}

// walk writes random statuses, and a few random specs, to one Job on both servers. Each write is a real one where both
// accept it, so that the rules that compare old and new see pairs that no author has thought of.
func (c *comparison) walk(t *testing.T, counts *sectionReport, number int) {
	random := rand.New(rand.NewPCG(*seed, uint64(number)))
	s := &section{Section: fmt.Sprintf("walk %03d", number), Request: update, Base: "indexed", wet: true,
		With: object{"spec": walkStarts[random.IntN(len(walkStarts))]}}
	t.Run(s.Section, func(t *testing.T) {
		theirs, ours := c.both(t, s, fmt.Sprintf("walk-%03d", number))
		for step := range stepsOfAWalk {
			var change object
			s.Subresource, change = "status", object{"status": randomStatus(random)}
			if random.IntN(6) == 0 {
				s.Subresource, change = "", object{"spec": randomSpec(random)}
			}
			c.compare(t, counts, s.label(fmt.Sprintf("step %d", step)), [2]*scene{theirs, ours}, change)
			if t.Failed() {
				return // The servers may hold different Jobs now.
			}
		}
	})
}

// keep makes the object of an accepted answer the one from which the next change starts.
func (c *scene) keep(r reply) error {
	if !c.wet || r.code/100 != 2 {
		return nil
	}
	c.stored = nil
	return json.Unmarshal(r.body, &c.stored)
}

// anyOf draws a value; nil removes the field.
func anyOf(random *rand.Rand, values ...any) any { return values[random.IntN(len(values))] }

func randomStatus(random *rand.Rand) object {
	draw := map[string]func() any{
		"active":      func() any { return random.IntN(3) },
		"ready":       func() any { return anyOf(random, nil, 0, 0, 1, 2) },
		"terminating": func() any { return anyOf(random, nil, 0, 0, 1) },
		"succeeded":   func() any { return random.IntN(4) },
		"failed":      func() any { return random.IntN(3) },
		"startTime": func() any {
			return anyOf(random, nil, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T00:02:00Z")
		},
		"completionTime": func() any { return anyOf(random, nil, "2026-01-01T00:01:00Z", "2026-01-01T00:03:00Z") },
		"completedIndexes": func() any {
			return anyOf(random, nil, "0", "0-1", "0,2", "1-4", "4", "5", "2,1", "x")
		},
		"failedIndexes": func() any { return anyOf(random, nil, "", "1", "2-3", "3,4", "7", "y") },
		"uncountedTerminatedPods": func() any {
			return anyOf(random, nil, object{}, object{"succeeded": []any{"a"}}, object{"failed": []any{"a", "b"}}, object{"failed": []any{"a", "a"}})
		},
		"conditions": func() any { return randomConditions(random) },
	}
	fields := union(draw, nil)
	status := object{}
	for range 1 + random.IntN(3) {
		field := fields[random.IntN(len(fields))]
		status[field] = draw[field]()
	}
	if random.IntN(2) == 0 {
		status["conditions"] = draw["conditions"]()
	}
	// Without these no Job would ever end.
	if random.IntN(3) == 0 {
		status["startTime"], status["active"], status["ready"], status["terminating"] = "2026-01-01T00:00:00Z", 0, nil, nil
		status["uncountedTerminatedPods"] = nil
	}
	return status
}

// randomConditions returns conditions that lead to one of the ends, or random ones.
func randomConditions(random *rand.Rand) any {
	of := func(kind string, status any) any { return object{"type": kind, "status": status} }
	switch random.IntN(6) {
	case 0:
		return []any{of("SuccessCriteriaMet", "True"), of("Complete", "True")}
	case 1:
		return []any{of("FailureTarget", "True"), of("Failed", "True")}
	case 2:
		return []any{of("Suspended", anyOf(random, "True", "False"))}
	}
	var all []any
	for _, kind := range []string{"SuccessCriteriaMet", "Complete", "FailureTarget", "Failed", "Suspended"} {
		if random.IntN(4) == 0 {
			all = append(all, of(kind, anyOf(random, "True", "True", "True", "False", "Unknown")))
		}
	}
	return all
}

func randomSpec(random *rand.Rand) object {
	size := random.IntN(6)
	return anyOf(random,
		object{"suspend": true},
		object{"suspend": false},
		object{"completions": size, "parallelism": size},
		object{"parallelism": size},
		object{"suspend": true, "template": object{"spec": object{"nodeSelector": object{"a": fmt.Sprint(size)}}}},
		object{"template": object{"spec": object{"nodeSelector": object{"a": fmt.Sprint(size)}}}},
	).(object)
}
