package sandbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatTheKernelTellsOfAProcess(t *testing.T) {
	const (
		afterFlags = " 0 0 0 0 0 0 0 0 20 0 1 0 7063 4194304 200 18446744073709551615"
		signals    = " 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0"
		loaded     = " 94 95 96" + signals + " 97 98 99 100 101 102 103 0"
		cleared    = " 94 95 96" + signals + " 97 98 99 100 101 102 102 0"
		unloaded   = " 0 0 0" + signals + " 0 0 0 0 0 0 0 0"
	)
	for name, test := range map[string]struct {
		line string
		want stat
	}{
		"one that runs":             {"12 (sh) S 1 12 11 0 -1 4194304" + afterFlags + loaded, stat{parent: 1, session: 11, start: "7063", hasEnviron: true}},
		"one without variables":     {"12 (sh) S 1 12 11 0 -1 4194304" + afterFlags + cleared, stat{parent: 1, session: 11, start: "7063"}},
		"a name with brackets":      {"12 (a) Z (b) R 1 12 11 0 -1 4194304" + afterFlags + loaded, stat{parent: 1, session: 11, start: "7063", hasEnviron: true}},
		"one that is being loaded":  {"12 (sh) R 1 12 11 0 -1 4194304" + afterFlags + unloaded, stat{parent: 1, session: 11, start: "7063", noEnviron: true}},
		"one that ends":             {"12 (sh) R 1 12 11 0 -1 4194308" + afterFlags + unloaded, stat{parent: 1, session: 11, start: "7063", ending: true, noEnviron: true}},
		"one that has just ended":   {"12 (sh) Z 1 12 11 0 -1 4194316" + afterFlags + unloaded, stat{parent: 1, session: 11, start: "7063", dead: true, ending: true, noEnviron: true}},
		"one that has been reaped":  {"", stat{dead: true}},
		"a kernel with less fields": {"12 (sh) S 1 12 11 0 -1 0" + afterFlags, stat{parent: 1, session: 11, start: "7063"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, parseStat([]byte(test.line)), cmp.AllowUnexported(stat{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
