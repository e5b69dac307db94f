package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var today = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// testdata/found.json is what govulncheck v1.9.0 wrote of internal/schedule, with a database of two made-up
// vulnerabilities in github.com/robfig/cron: GO-2026-9001 is in a function that is called, GO-2026-9002 is not.
func TestWhatIsCalledHasToBeAccepted(t *testing.T) {
	const accepted = "| id | until | why |\n|---|---|---|\n"
	tests := map[string]struct {
		list string
		ok   bool
		says string
	}{
		"nothing is accepted": {accepted, false,
			"not accepted: GO-2026-9001 in github.com/robfig/cron/v3 v3.0.1, by a call of github.com/robfig/cron/v3.ParseStandard (fixed in v3.0.2)"},
		"another one is accepted":          {accepted + "| GO-2026-9002 | 2026-12-31 | not called |\n", false, "GO-2026-9002 is accepted, but no longer called"},
		"it is accepted":                   {accepted + "| GO-2026-9001 | 2026-12-31 | input is ours |\n", true, "accepted until 2026-12-31: GO-2026-9001"},
		"it is accepted until today":       {accepted + "| GO-2026-9001 | 2026-11-25 | input is ours |\n", true, "accepted until 2026-11-25: GO-2026-9001"},
		"it was accepted until yesterday":  {accepted + "| GO-2026-9001 | 2026-11-24 | input is ours |\n", false, "accepted until 2026-11-24 only: GO-2026-9001"},
		"one is accepted that is not used": {accepted + "| GO-2026-9001 | 2026-12-31 | input is ours |\n| GO-2026-9003 | 2026-12-31 | old |\n", true, "GO-2026-9003 is accepted, but no longer called"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found, err := os.Open("testdata/found.json")
			if err != nil {
				t.Fatal(err)
			}
			defer found.Close()
			var out bytes.Buffer
			ok, err := run(found, write(t, test.list), today, &out)
			if err != nil || ok != test.ok || !strings.Contains(out.String(), test.says) {
				t.Errorf("got %v, %v and\n%s", ok, err, out.String())
			}
		})
	}
}

// An empty answer, or half of one, is not "nothing found".
func TestAnAnswerHasToBeWhole(t *testing.T) {
	for _, answer := range []string{"", "{}", `{"config":{}} {"finding":`, `{"config":{}} govulncheck: no route to host`} {
		if ok, err := run(strings.NewReader(answer), write(t, ""), today, &bytes.Buffer{}); ok || err == nil {
			t.Errorf("%q: got %v, %v", answer, ok, err)
		}
	}
	if ok, err := run(strings.NewReader(`{"config":{}}`), write(t, ""), today, &bytes.Buffer{}); !ok || err != nil {
		t.Errorf("nothing found: got %v, %v", ok, err)
	}
}

func TestTheListHasToBeWellFormed(t *testing.T) {
	for _, line := range []string{"| GO-2026-9001 |", "| GO-2026-9001 | soon | why |", "| GO-2026-9001 | 2026-12-31 | |", "| GO-26 | 2026-12-31 | why |"} {
		if _, err := readAccepted(line); err == nil {
			t.Errorf("%q is no row, and was taken for one", line)
		}
	}
}

func TestTheListOfTheRepositoryIsWellFormed(t *testing.T) {
	text, err := os.ReadFile("../../docs/security/vulnerabilities.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readAccepted(string(text)); err != nil {
		t.Error(err)
	}
}

func write(t *testing.T, list string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "list.md")
	if err := os.WriteFile(file, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
