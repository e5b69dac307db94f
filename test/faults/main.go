// Command faults plants faults in the controllers, one at a time, and runs the ordinary tests that must catch each:
//
//	go run ./test/faults                  # all of them, some minutes
//	go run ./test/faults -list
//	go run ./test/faults -run 'finalizer'
//
// A fault is a sentence and a piece of the source that is replaced. The work tree is not touched: `go test -overlay`
// reads the changed file from a temporary directory. The tests run as in the gate, without fresh seeds and without a
// cluster, and have passed without the fault before. A fault counts as caught when a test fails. It does not when the
// tests pass, run out of time or do not compile, or when the piece to replace is not there any more; then the program
// exits with 1. If that source changes, the fault has to change with it, or give way to a similar one.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

var faults = slices.Concat(counting, creation, endings, starts, schedules, deletions, remotely, onTheNode, ofVolumes, ofLogins, ofPulls, ofHostileImages, remembering, inTheStore, ofFullDisks, volumes, ofClaims, networks, services, onTheTerminal, known)

func main() {
	pattern := flag.String("run", "", "plant the faults whose file or sentence matches this regular expression")
	list := flag.Bool("list", false, "only list the faults")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *pattern, *list); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, pattern string, list bool) error {
	matcher, err := regexp.Compile(pattern)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	chosen := slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return !matcher.MatchString(f.String()) })
	if len(chosen) == 0 {
		return fmt.Errorf("no fault matches %q; -list shows them", pattern)
	}
	if list {
		for _, f := range chosen {
			fmt.Printf("%s\n\t%s\n", f, f.tests)
		}
		return nil
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	return plantAll(ctx, os.Stdout, root, chosen)
}

func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// plantAll prints what became of each fault. The error says how many were not caught.
func plantAll(ctx context.Context, w io.Writer, root string, chosen []fault) error {
	missed := 0
	g := &ground{root: root, sound: map[string]error{}}
	for n, f := range chosen {
		start := time.Now()
		caught, err := g.plant(ctx, f)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		result := "caught by " + caught
		if err != nil {
			missed++
			result = err.Error()
		}
		fmt.Fprintf(w, "%d/%d  %s\n\t%s (%.0fs)\n", n+1, len(chosen), f, result, time.Since(start).Seconds())
	}
	if missed > 0 {
		return fmt.Errorf("%d of %d faults were not caught", missed, len(chosen))
	}
	return nil
}
