package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// part is one of the measurements.
type part struct {
	name    string
	measure func(*bench, context.Context) error
}

// byDefault are the parts that run where none are chosen.
const byDefault = "a,b,c,d,e,f,g,h,i,j,k"

// parts are all measurements, in their order.
var parts = []part{
	{"a", (*bench).processes},
	{"b", (*bench).controlPlane},
	{"c", (*bench).manyJobs},
	{"d", (*bench).binary},
	{"e", (*bench).deletion},
	{"f", (*bench).onCluster},
	{"g", (*bench).schedules},
	{"h", (*bench).keptResults},
	{"i", (*bench).images},
	{"j", (*bench).memory},
	{"k", (*bench).networks},
	{"pulls", (*bench).onlyPulls}, // a piece of i
	{"smoke", (*bench).smoke},     // by itself, as the heap of this process is measured
}

// choose returns the parts that only names, in their order.
func choose(only string) (chosen []part, err error) {
	names := strings.Split(only, ",")
	for _, p := range parts {
		if slices.Contains(names, p.name) {
			chosen = append(chosen, p)
		}
	}
	if len(chosen) != len(names) {
		return nil, fmt.Errorf("-only %q: want parts, each once, from %s,pulls,smoke", only, byDefault)
	}
	return chosen, nil
}

// runParts runs parts one after the other. One that fails does not keep the others from being measured.
func (b *bench) runParts(ctx context.Context, chosen []part) error {
	times := newTable("Time by part", "part", "took", "")
	began := time.Now()
	var errs []error
	for _, p := range chosen {
		start := time.Now()
		outcome := ""
		if err := b.runPart(ctx, p); err != nil {
			errs = append(errs, fmt.Errorf("part %s: %w", p.name, err))
			outcome = "failed"
		}
		times.line(p.name, time.Since(start).Round(time.Second), outcome)
		if ctx.Err() != nil {
			break
		}
	}
	times.line("all", time.Since(began).Round(time.Second), "")
	if len(chosen) > 1 {
		printFigures("All aims", b.figures)
	}
	times.print()
	return errors.Join(errs...)
}

func (b *bench) runPart(ctx context.Context, p part) error {
	b.part = p.name
	before := len(b.figures)
	err := p.measure(b, ctx)
	printFigures("Aims of part "+p.name, b.figures[before:])
	return err
}
