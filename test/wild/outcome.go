package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// state is how far a Job got.
type state string

const (
	stateRefused  state = "refused"
	stateUnusable state = "no image can have its name"
	stateStuck    state = "did not end"
	stateFailed   state = "failed"
	stateDiffers  state = "ended, started otherwise"
	stateEnded    state = "ended as the manifest says"
)

// states are all, the worst first.
var states = []state{stateRefused, stateUnusable, stateStuck, stateFailed, stateDiffers, stateEnded}

// outcome is how the Job of one document went.
type outcome struct {
	file   string
	number int
	kind   string
	state  state
	why    string
}

func printOutcomes(all []outcome, verbose bool) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, o := range all {
		if verbose || o.state != stateEnded {
			fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\n", o.file, o.number, o.kind, o.state, firstLine(o.why))
		}
	}
	w.Flush()
	fmt.Println()
	for _, s := range states {
		n := len(slices.DeleteFunc(slices.Clone(all), func(o outcome) bool { return o.state != s }))
		fmt.Printf("%4d  %s\n", n, s)
	}
	fmt.Printf("%4d  in all\n", len(all))
}

func firstLine(text string) string {
	const enough = 900
	line := strings.Join(strings.Fields(text), " ")
	return line[:min(len(line), enough)]
}
