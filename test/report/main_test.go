package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	for sentence, c := range map[string]struct{ recorded, want string }{
		"all passed": {
			`{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}`,
			"Skipped: nothing.\n",
		},
		"skipped tests are counted by reason": {
			`{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: kubectl is not in PATH\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"output","Package":"q","Test":"TestA","Output":"    b_test.go:12: kubectl is not in PATH\n"}
{"Action":"skip","Package":"q","Test":"TestA"}
{"Action":"skip","Package":"q","Test":"TestB"}`,
			"Skipped: 2 (kubectl is not in PATH), 1 (no reason given).\n",
		},
		"a test that passed when it was run again is flaky, one that failed again is not": {
			`{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p","Test":"TestB"}`,
			"Skipped: nothing.\nFlaky, passed only when run again; mend what is listed twice before anything else:\n  p.TestA\n",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.json")
			if err := os.WriteFile(path, []byte(c.recorded), 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := run([]string{path}, &out); err != nil || out.String() != c.want {
				t.Errorf("%v, printed\n%swant\n%s", err, &out, c.want)
			}
		})
	}
}

func TestReportNamesTheFileThatItCannotRead(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.json")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{broken, filepath.Join(t.TempDir(), "absent.json")} {
		if err := run([]string{path}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
