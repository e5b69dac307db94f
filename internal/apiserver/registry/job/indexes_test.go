package job

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseIndexes(t *testing.T) {
	for text, want := range map[string]int32{
		"": 0, "0": 1, "9": 1, "0-9": 10, "1,3-5,7": 5, "0,1,2": 3, "0-1,2-3": 4, "007": 1,
	} {
		set, err := parseIndexes(text, 10)
		if err != nil || set.count() != want {
			t.Errorf("%q: count %d, error %v; want %d", text, set.count(), err, want)
		}
	}
	for sentence, text := range map[string]string{
		"the number of completions is no index": "10",
		"a range ends below the completions":    "8-10",
		"a range needs two ends":                "3-3",
		"a range runs upwards":                  "5-3",
		"a range has two ends only":             "1-2-3",
		"indexes run upwards":                   "4,2",
		"indexes stand once":                    "1-3,3",
		"negative numbers are none":             "-1",
		"a second end is not negative":          "1--2",
		"words are none":                        "one",
		"a comma ends nothing":                  "1,",
		"spaces are none":                       "1, 2",
		"numbers that overflow are none":        "99999999999999999999",
	} {
		if set, err := parseIndexes(text, 10); err == nil {
			t.Errorf("%s: %q was read as %v", sentence, text, set)
		}
	}
}

// format returns the text of a set that parseIndexes parses.
func format(set indexIntervals) string {
	var parts []string
	for _, i := range set {
		if i.first == i.last {
			parts = append(parts, fmt.Sprint(i.first))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", i.first, i.last))
		}
	}
	return strings.Join(parts, ",")
}

func drawIndexes(t *rapid.T, label string) (indexIntervals, map[int]bool) {
	var set indexIntervals
	members, next := map[int]bool{}, 0
	for _, gap := range rapid.SliceOfN(rapid.IntRange(0, 3), 0, 10).Draw(t, label) {
		i := indexInterval{next + gap, next + gap + rapid.IntRange(0, 2).Draw(t, "length")}
		set, next = append(set, i), i.last+1
		for n := i.first; n <= i.last; n++ {
			members[n] = true
		}
	}
	return set, members
}

func TestIndexesSayWhatTheyHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, inA := drawIndexes(t, "a")
		b, inB := drawIndexes(t, "b")
		read, err := parseIndexes(format(a), 1000)
		if err != nil || int(read.count()) != len(inA) {
			t.Fatalf("%q: count %d, error %v; want %d", format(a), read.count(), err, len(inA))
		}
		least, both := -1, false
		for n := 999; n >= 0; n-- {
			if inA[n] && inB[n] {
				least, both = n, true
			}
		}
		got, found := commonIndex(a, b)
		if found != both || found && got != least {
			t.Fatalf("%q and %q share %d (%v), want %d (%v)", format(a), format(b), got, found, least, both)
		}
	})
}

func FuzzParseIndexes(f *testing.F) {
	for _, seed := range []string{"", "0", "1,3-5,7", "-", "1-", "+1", "1,,2", "0-4294967296"} {
		f.Add(seed, int32(10))
	}
	f.Fuzz(func(t *testing.T, text string, completions int32) {
		set, err := parseIndexes(text, completions)
		if err != nil {
			return
		}
		last := -1
		for _, i := range set {
			if i.first <= last || i.last < i.first || i.last >= int(completions) {
				t.Fatalf("%q with %d completions was read as %v", text, completions, set)
			}
			last = i.last
		}
		if again, err := parseIndexes(format(set), completions); err != nil || again.count() != set.count() {
			t.Fatalf("%q does not survive: %v %v", text, again, err)
		}
		if len(readableIndexes(text, completions)) != len(set) {
			t.Fatalf("%q is read in two ways", text)
		}
	})
}
