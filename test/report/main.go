// Report reads what test runs have recorded (the files of gotestsum's --jsonfile) and says in a few lines what a green run
// hides: which tests were skipped and why, and which passed only when they were run again.
//
//	go run ./test/report bin/tests/test.json …
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(paths []string, out io.Writer) error {
	r := newRecord()
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		err = r.read(file)
		file.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	r.print(out)
	return nil
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
}

// test names one test.
type test struct{ pkg, name string }

func (t test) String() string { return t.pkg + "." + t.name }

// record has the outcomes of tests, in the order in which they ended.
type record struct {
	reason          map[test]string
	skipped, failed []test
	flaky           []test
}

func newRecord() *record { return &record{reason: map[test]string{}} }

func (r *record) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return err
		}
		if e.Test != "" {
			r.add(e)
		}
	}
	return lines.Err()
}

func (r *record) add(e event) {
	t := test{e.Package, e.Test}
	switch e.Action {
	case "output":
		if said := reasonOf(e.Output); said != "" {
			r.reason[t] = said
		}
	case "skip":
		r.skipped = append(r.skipped, t)
	case "fail":
		r.failed = append(r.failed, t)
	case "pass":
		if slices.Contains(r.failed, t) && !slices.Contains(r.flaky, t) {
			r.flaky = append(r.flaky, t)
		}
	}
}

// logged is a line of t.Skip, t.Log and the like.
var logged = regexp.MustCompile(`^ +[\w.-]+\.go:\d+: (.*)\n$`)

// reasonOf returns the message in a line of a test's output, or "" if the line has none.
func reasonOf(output string) string {
	if m := logged.FindStringSubmatch(output); m != nil {
		return m[1]
	}
	return ""
}

func (r *record) print(out io.Writer) {
	fmt.Fprintln(out, r.skips())
	if len(r.flaky) == 0 {
		return
	}
	fmt.Fprintln(out, "Flaky, passed only when run again; mend what is listed twice before anything else:")
	for _, t := range r.flaky {
		fmt.Fprintln(out, " ", t)
	}
}

// skips returns one line with the number of skipped tests for each reason.
func (r *record) skips() string {
	var reasons []string
	count := map[string]int{}
	for _, t := range r.skipped {
		why := r.reason[t]
		if why == "" {
			why = "no reason given"
		}
		if count[why]++; count[why] == 1 {
			reasons = append(reasons, why)
		}
	}
	if len(reasons) == 0 {
		return "Skipped: nothing."
	}
	for i, why := range reasons {
		reasons[i] = fmt.Sprintf("%d (%s)", count[why], why)
	}
	return "Skipped: " + strings.Join(reasons, ", ") + "."
}
