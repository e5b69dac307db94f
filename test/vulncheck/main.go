// Vulncheck reads what govulncheck has found, and fails where the program calls a function with a known vulnerability that
// docs/security/vulnerabilities.md does not accept, or not any more.
//
//	govulncheck -format json ./... | go run ./test/vulncheck docs/security/vulnerabilities.md
package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: govulncheck -format json ./... | vulncheck LIST")
		os.Exit(2)
	}
	ok, err := run(os.Stdin, os.Args[1], time.Now(), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "vulncheck:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// run reports whether all that was found is accepted.
func run(found io.Reader, list string, now time.Time, out io.Writer) (ok bool, err error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return false, err
	}
	accepted, err := readAccepted(string(text))
	if err != nil {
		return false, fmt.Errorf("%s: %w", list, err)
	}
	called, err := readCalled(found)
	if err != nil {
		return false, fmt.Errorf("reading what govulncheck wrote: %w", err)
	}
	return report(called, accepted, now, out), nil
}

// report prints a line for each vulnerability, and one for each that is accepted without need.
func report(called []vulnerability, accepted map[string]time.Time, now time.Time, out io.Writer) (ok bool) {
	ok = true
	for _, v := range called {
		until, isAccepted := accepted[v.id]
		delete(accepted, v.id)
		switch {
		case !isAccepted:
			ok = false
			fmt.Fprintln(out, "not accepted:", v)
		case now.After(until.AddDate(0, 0, 1)):
			ok = false
			fmt.Fprintf(out, "accepted until %s only: %s\n", until.Format(time.DateOnly), v)
		default:
			fmt.Fprintf(out, "accepted until %s: %s\n", until.Format(time.DateOnly), v)
		}
	}
	for id := range accepted {
		fmt.Fprintf(out, "%s is accepted, but no longer called: take it out of the list\n", id)
	}
	fmt.Fprintf(out, "functions with known vulnerabilities that are called: %d\n", len(called))
	return ok
}
