package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// module has a function whose result a test checks, and one whose result no test does.
var module = map[string]string{
	"go.mod":            "module ground\n\ngo 1.26\n",
	"sum/sum.go":        "package sum\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Sub(a, b int) int { return a - b }\n",
	"sum/sum_test.go":   "package sum\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(2, 3) != 5 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n",
	"bad/bad_test.go":   "package bad\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) { t.Error(\"always\") }\n",
	"exit/exit.go":      "package exit\n\nvar Code, Says = 0, \"\"\n",
	"exit/exit_test.go": "package exit\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tprintln(Says)\n\tos.Exit(Code)\n}\n",
}

func newGround(t *testing.T) *ground {
	t.Helper()
	root := t.TempDir()
	for name, text := range module {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &ground{root: root, sound: map[string]error{}}
}

func TestPlant(t *testing.T) {
	tests := map[string]struct {
		fault  fault
		caught string
		err    string
	}{
		"a test fails": {
			fault:  fault{file: "sum/sum.go", old: "a + b", new: "a", tests: "./sum"},
			caught: "TestAdd",
		},
		"no test fails": {
			fault: fault{file: "sum/sum.go", old: "a - b", new: "a", tests: "./sum"},
			err:   `^NOT CAUGHT: the tests pass$`,
		},
		"it does not compile": {
			fault: fault{file: "sum/sum.go", old: "a + b", new: "c", tests: "./sum"},
			err:   `^does not compile\n(.|\n)*undefined: c`,
		},
		"what it replaces is gone": {
			fault: fault{file: "sum/sum.go", old: "a * b", new: "a", tests: "./sum"},
			err:   `^fault no longer applies: the file has 0 times "a \* b"`,
		},
		"what it replaces is there twice": {
			fault: fault{file: "sum/sum.go", old: "return a", new: "return b", tests: "./sum"},
			err:   `^fault no longer applies: the file has 2 times`,
		},
		"its file is gone": {
			fault: fault{file: "sum/difference.go", old: "a - b", new: "a", tests: "./sum"},
			err:   `^fault no longer applies: .*no such file`,
		},
		"its tests fail without it": {
			fault: fault{file: "sum/sum.go", old: "a + b", new: "a", tests: "./sum ./bad"},
			err:   `^without the fault, go test ./sum ./bad TestBad: tests fail`,
		},
		"the tests end without a failed one": {
			fault: fault{file: "exit/exit.go", old: `0, ""`, new: `3, ""`, tests: "./exit"},
			err:   `^NOT CAUGHT: no test fails, and yet`,
		},
		"the tests run out of time": {
			fault: fault{file: "exit/exit.go", old: `0, ""`, new: `2, "panic: test timed out after 10m0s"`, tests: "./exit"},
			err:   `^NOT CAUGHT: the tests run out of time`,
		},
	}
	g := newGround(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			caught, err := g.plant(t.Context(), tt.fault)
			if caught != tt.caught {
				t.Errorf("caught by %q, want %q", caught, tt.caught)
			}
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !regexp.MustCompile(tt.err).MatchString(err.Error())) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
	for name, text := range module {
		if now, err := os.ReadFile(filepath.Join(g.root, name)); err != nil || string(now) != text {
			t.Errorf("%s has changed: %v", name, err)
		}
	}
}

func TestOneFaultThatIsNotCaughtFailsTheProgram(t *testing.T) {
	g := newGround(t)
	var out bytes.Buffer
	err := plantAll(t.Context(), &out, g.root, []fault{
		{wrong: "Sums are wrong.", file: "sum/sum.go", old: "a + b", new: "a", tests: "./sum"},
		{wrong: "Differences are wrong.", file: "sum/sum.go", old: "a - b", new: "a", tests: "./sum"},
	})
	if err == nil || err.Error() != "1 of 2 faults were not caught" {
		t.Errorf("error %v", err)
	}
	for _, want := range []string{"1/2  sum/sum.go: Sums are wrong.\n\tcaught by TestAdd", "2/2  sum/sum.go: Differences are wrong.\n\tNOT CAUGHT"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output without %q:\n%s", want, out.String())
		}
	}
}

func TestAnInterruptIsNoVerdict(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out bytes.Buffer
	err := plantAll(ctx, &out, newGround(t).root, []fault{{file: "sum/sum.go", old: "a + b", new: "a", tests: "./sum"}})
	if !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("error %v, output %q", err, out.String())
	}
}

// TestEveryFaultApplies runs no other tests, so it takes no time, and shows at once which faults a change of source breaks.
func TestEveryFaultApplies(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range faults {
		text, err := os.ReadFile(filepath.Join("../..", f.file))
		if err != nil || strings.Count(string(text), f.old) != 1 || f.old == f.new {
			t.Errorf("no longer applies: %s: %v", f, err)
		}
		if seen[f.String()] {
			t.Errorf("is there twice: %s", f)
		}
		seen[f.String()] = true
	}
}
