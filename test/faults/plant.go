package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// fault is a mistake that a change could bring.
type fault struct {
	// wrong is what goes wrong, in a sentence.
	wrong string
	// file is the source file, as a path from the root of the module.
	file string
	// old is the text that new replaces. The file has it exactly once.
	old, new string
	// tests are the arguments of go test: the packages whose tests catch the fault.
	tests string
}

func (f fault) String() string { return f.file + ": " + f.wrong }

// ground is a module that faults are planted in.
type ground struct {
	root string
	// sound has the result of each test that was run without a fault.
	sound map[string]error
}

var (
	errNotCaught  = errors.New("NOT CAUGHT: the tests pass")
	errNotBuilt   = errors.New("does not compile")
	errOutOfTime  = errors.New("NOT CAUGHT: the tests run out of time")
	errNoTestFail = errors.New("NOT CAUGHT: no test fails, and yet the tests do not pass")
)

// plant returns the tests that catch f, or why none does.
func (g *ground) plant(ctx context.Context, f fault) (caught string, err error) {
	source := filepath.Join(g.root, f.file)
	text, err := os.ReadFile(source)
	if err != nil {
		return "", fmt.Errorf("fault no longer applies: %w", err)
	}
	if n := bytes.Count(text, []byte(f.old)); n != 1 {
		return "", fmt.Errorf("fault no longer applies: the file has %d times %q, which is to be replaced", n, f.old)
	}
	if err := g.passes(ctx, f.tests); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "fault-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := writeOverlay(dir, source, bytes.Replace(text, []byte(f.old), []byte(f.new), 1))
	if err != nil {
		return "", err
	}
	failed, err := g.test(ctx, f.tests, "-count=1", "-overlay="+overlay)
	switch {
	case len(failed) > 0 && !errors.Is(err, errNotBuilt):
		return inShort(failed), nil
	case err == nil:
		return "", errNotCaught
	}
	return "", err
}

// passes returns an error if the tests fail without a fault: then they prove nothing about one.
func (g *ground) passes(ctx context.Context, tests string) error {
	err, known := g.sound[tests]
	if known {
		return err
	}
	failed, err := g.test(ctx, tests)
	if err != nil {
		err = fmt.Errorf("without the fault, go test %s %s: %w", tests, inShort(failed), err)
	}
	g.sound[tests] = err
	return err
}

// writeOverlay writes the overlay file that makes go read text instead of source.
func writeOverlay(dir, source string, text []byte) (overlay string, err error) {
	changed := filepath.Join(dir, filepath.Base(source))
	if err := os.WriteFile(changed, text, 0o600); err != nil {
		return "", err
	}
	content, err := json.Marshal(map[string]any{"Replace": map[string]string{source: changed}})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, content, 0o600)
}

// test runs go test and returns the names of the tests that failed.
func (g *ground) test(ctx context.Context, tests string, flags ...string) (failed []string, err error) {
	args := append(append([]string{"test", "-vet=off", "-timeout=10m"}, flags...), strings.Fields(tests)...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = g.root, environment(os.Environ())
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil, nil
	}
	failed = failedTests(out)
	switch {
	case !builds(out):
		err = errNotBuilt
	case len(failed) > 0:
		err = errors.New("tests fail")
	case bytes.Contains(out, []byte("panic: test timed out after")):
		err = errOutOfTime
	default:
		err = errNoTestFail
	}
	return failed, fmt.Errorf("%w\n%s", err, lastLines(out))
}

// environment returns the environment of the gate: one seed, no cluster. Input that makes rapid fail is neither made
// smaller nor stored.
func environment(mine []string) []string {
	var env []string
	for _, e := range mine {
		if !strings.HasPrefix(e, "RAPID_") && !strings.HasPrefix(e, "STINT_CLUSTER=") {
			env = append(env, e)
		}
	}
	return append(env, "RAPID_SEED=1", "RAPID_NOFAILFILE=true", "RAPID_SHRINKTIME=0s")
}

var failure = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

func failedTests(output []byte) (names []string) {
	for _, match := range failure.FindAllSubmatch(output, -1) {
		names = append(names, string(match[1]))
	}
	return names
}

var notBuilt = regexp.MustCompile(`(?m)^FAIL\t.*\[(build|setup) failed\]$`)

func builds(output []byte) bool { return !notBuilt.Match(output) }

// inShort joins the first few names.
func inShort(names []string) string {
	const few = 3
	if more := len(names) - few; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), more)
	}
	return strings.Join(names, ", ")
}

func lastLines(output []byte) string {
	const some = 20
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	return strings.Join(lines[max(0, len(lines)-some):], "\n")
}
