package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/klog/v2"
)

func TestTheLogOfAServerLeavesOutMessagesThatNeedNoAction(t *testing.T) {
	for line, shown := range map[string]bool{
		"W1121 23:52:44.567566   30787 cacher.go:185] Terminating all watchers from cacher nodes\n":                                               false,
		"E1121 23:52:44.567566   30787 authentication.go:70] Unable to authenticate the request\n":                                                false,
		"W1121 23:52:44.567566   30787 logging.go:55] [core] [Channel #1 SubChannel #2] grpc: addrConn.createTransport failed to connect to {}\n": false,
		"E1121 23:52:44.567566   30787 collector.go:121] Garbage collection is retried\n":                                                         true,
	} {
		var log bytes.Buffer
		if _, err := fmt.Fprint(logFilter{&log}, line); err != nil {
			t.Fatal(err)
		}
		if got := log.String() == line; got != shown {
			t.Errorf("shown %t, want %t: %s", got, shown, line)
		}
	}
}

func TestALogDoesNotActOnTheTerminal(t *testing.T) {
	for name, begin := range map[string]func(verbosity int){"server": LogLibraries, "service": LogService} {
		t.Run(name, func(t *testing.T) {
			log := logged(t, func() {
				begin(0)
				klog.Error("bell\a eight\u009b31m")
			})
			if n := strings.Count(log, `bell\x07 eight\u009b31m`); n != 1 || strings.ContainsAny(log, "\a\u009b") {
				t.Errorf("an error is shown %d times: %q", n, log)
			}
		})
	}
}

// logged returns what is written to standard error.
func logged(t *testing.T, do func()) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = file
	do()
	klog.Flush()
	os.Stderr = stderr
	file.Close()
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}
