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
	// anchor is what the same load gave with what Stint is compared with; it is 0 where the aim is for Stint alone.
	anchor float64
	aim    aim
}

// judged is what the aim is for: the ratio where there is an anchor.
func (f figure) judged() float64 {
	if f.anchor == 0 {
		return f.measured
	}
	return f.measured / f.anchor
}

func (f figure) verdict() string {
	if f.aim.isReachedBy(f.judged()) {
		return "ok"
	}
	return "MISSED"
}

// judge keeps a figure of the running part for the table at its end. A missed aim is no failure.
func (b *bench) judge(what string, measured float64, a aim) { b.judgeBeside(what, measured, 0, a) }

// judgeBeside is judge for an aim for the ratio of a figure to its anchor.
func (b *bench) judgeBeside(what string, measured, anchor float64, a aim) {
	b.figures = append(b.figures, figure{b.part, what, measured, anchor, a})
}

// printFigures prints figures with their verdicts.
func printFigures(title string, figures []figure) {
	if len(figures) == 0 {
		return
	}
	t := newTable(title, "part", "figure", "measured", "anchor", "ratio", "aim", "verdict")
	missed := 0
	for _, f := range figures {
		var anchor, ratio any = "", ""
		if f.anchor != 0 {
			anchor, ratio = f.anchor, f.judged()
		}
		t.line(f.part, f.what, f.measured, anchor, ratio, f.aim, f.verdict())
		if f.verdict() != "ok" {
			missed++
		}
	}
	t.print()
	fmt.Printf("%d of %d aims missed\n", missed, len(figures))
}
