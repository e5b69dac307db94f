package memory

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestDropStartupShrinksTheProgramAndLeavesItRunning(t *testing.T) {
	before := residentPages(t)
	DropStartup()
	after := residentPages(t)
	if after >= before {
		t.Errorf("%d pages of files were resident before, %d after", before, after)
	}
}

func TestOnlyCleanReadOnlyPartsOfTheProgramAreDropped(t *testing.T) {
	for what, c := range map[string]struct {
		line string
		drop bool
	}{
		"code":                {"00400000-00800000 r-xp 00000000 fe:00 1 /bin/stint", true},
		"constants":           {"00400000-00800000 r--p 00000000 fe:00 1 /bin/stint", true},
		"variables":           {"00400000-00800000 rw-p 00000000 fe:00 1 /bin/stint", false},
		"shared with others":  {"00400000-00800000 r--s 00000000 fe:00 1 /bin/stint", false},
		"another file's code": {"00400000-00800000 r-xp 00000000 fe:00 1 /lib/libc.so", false},
	} {
		if got := parseMapping(strings.Fields(c.line), "/bin/stint").length != 0; got != c.drop {
			t.Errorf("%s: dropped: %v, want %v", what, got, c.drop)
		}
	}
}

// residentPages counts pages that are backed by files.
func residentPages(t *testing.T) int {
	t.Helper()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.Fields(string(statm))[2])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
