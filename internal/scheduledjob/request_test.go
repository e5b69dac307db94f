package scheduledjob

import (
	"strings"
	"testing"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

func TestSameRun(t *testing.T) {
	args := func(text string) *stintv1.Overrides { return &stintv1.Overrides{Args: []string{text}} }
	long := args(strings.Repeat("a", 2*maxOverrides))
	for sentence, tc := range map[string]struct {
		known stintv1.Execution
		asked *stintv1.Overrides
		same  bool
	}{
		"nothing is changed, twice":                          {stintv1.Execution{Status: stintv1.ExecutionPending}, nil, true},
		"it waits with the same args":                        {stintv1.Execution{Overrides: args("a")}, args("a"), true},
		"it waits with others":                               {stintv1.Execution{Overrides: args("a")}, args("b"), false},
		"it waits without":                                   {stintv1.Execution{Status: stintv1.ExecutionPending}, long, false},
		"a person has added it without a status":             {stintv1.Execution{}, long, false},
		"it runs, and long ones are forgotten":               {stintv1.Execution{Status: stintv1.ExecutionRunning}, long, true},
		"it has ended, and short ones are not":               {stintv1.Execution{Status: stintv1.ExecutionCompleted}, args("a"), false},
		"it has ended with some, and none are asked for":     {stintv1.Execution{Status: stintv1.ExecutionCompleted, Overrides: args("a")}, nil, false},
		"long ones that are remembered, from before a limit": {stintv1.Execution{Status: stintv1.ExecutionCompleted, Overrides: long}, long, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			if same := SameRun(&tc.known, tc.asked); same != tc.same {
				t.Errorf("same: %t, want %t", same, tc.same)
			}
		})
	}
}
