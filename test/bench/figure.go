package main

import "fmt"

// aim is what a figure is meant to reach.
type aim struct {
	value float64
	most  bool
}

func atMost(v float64) aim  { return aim{v, true} }
func atLeast(v float64) aim { return aim{v, false} }

func (a aim) String() string {
	if a.most {
		return "≤ " + short(a.value)
	}
	return "≥ " + short(a.value)
}

func (a aim) isReachedBy(v float64) bool {
	if a.most {
		return v <= a.value
	}
	return v >= a.value
}

// figure is something that was measured, beside its aim.
type figure struct {
	part, what string
	measured   float64
	aim        aim
}

func (f figure) verdict() string {
	if f.aim.isReachedBy(f.measured) {
		return "ok"
	}
	return "MISSED"
}

// judge keeps a figure of the running part for the table at its end. A missed aim is no failure.
func (b *bench) judge(what string, measured float64, a aim) {
	b.figures = append(b.figures, figure{b.part, what, measured, a})
}

// printFigures prints figures with their verdicts.
func printFigures(title string, figures []figure) {
	if len(figures) == 0 {
		return
	}
	t := newTable(title, "part", "figure", "measured", "aim", "verdict")
	missed := 0
	for _, f := range figures {
		t.line(f.part, f.what, f.measured, f.aim, f.verdict())
		if f.verdict() != "ok" {
			missed++
		}
	}
	t.print()
	fmt.Printf("%d of %d aims missed\n", missed, len(figures))
}
