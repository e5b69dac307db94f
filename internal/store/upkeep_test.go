package store

import "testing"

const mb = 1 << 20

// steps returns an upkeep that has seen the same usage for a number of steps, with one more revision at each.
func steps(n int, used int64) *upkeep {
	u := &upkeep{}
	for i := range n {
		u.step(usage{revision: int64(i + 1), file: used, used: used})
	}
	return u
}

func TestHistoryIsDroppedByAgeAndBySize(t *testing.T) {
	for sentence, tc := range map[string]struct {
		upkeep *upkeep
		now    usage
		want   int64
	}{
		"a minute after the start, what was there at the start": {steps(keptSteps, mb), usage{revision: 100, used: mb}, 1},
		"not before":                        {steps(keptSteps-1, mb), usage{revision: 100, used: mb}, 0},
		"a little is no reason":             {steps(30, mb), usage{revision: 32, used: mb + 2*slackBytes}, 0},
		"much is one, except for 15 s":      {steps(30, mb), usage{revision: 32, used: mb + 2*slackBytes + 2}, 16},
		"but not what is younger than 15s":  {steps(15, mb), usage{revision: 100, used: 500 * mb}, 0},
		"nothing is that old":               {steps(minKeptSteps-1, mb), usage{revision: 15, used: 500 * mb}, 0},
		"as much as live data is no reason": {steps(30, 100*mb), usage{revision: 32, used: 300 * mb}, 0},
		"more is one":                       {steps(30, 100*mb), usage{revision: 32, used: 300*mb + 2}, 16},
		"a full store drops what it may":    {steps(minKeptSteps, 100*mb), usage{revision: 100, used: 100 * mb, full: true}, 1},
		"but not all the time":              {&upkeep{newest: make([]int64, 30), steps: 5, compacted: -1}, usage{revision: 9, full: true}, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := tc.upkeep.step(tc.now).compactTo; got != tc.want {
				t.Errorf("to revision %d, want %d", got, tc.want)
			}
		})
	}
}

// Every step writes 10 MB; 100 MB are live, and etcd drops the rest of a compaction two steps later.
func TestUnderSteadyLoadHistoryStaysWithinABound(t *testing.T) {
	const live, written = 100 * mb, 10 * mb
	u := &upkeep{}
	var dropped, dropping int64
	var most, compactions int
	for i := range int64(600) {
		used := live + (i-dropped)*written
		most = max(most, int(used))
		if p := u.step(usage{revision: i, file: used, used: used}); p.compactTo > 0 {
			compactions++
			dropping = p.compactTo
		}
		if u.steps == 2 {
			dropped = dropping
		}
	}
	if limit := 3*live + (minKeptSteps+2)*written; most > limit {
		t.Errorf("used up to %d MB, want %d", most/mb, limit/mb)
	}
	if compactions > 600/10 {
		t.Errorf("%d compactions of a database that grows by its live size in 10 steps", compactions)
	}
}

func TestLiveDataIsNotTakenForHistoryForLong(t *testing.T) {
	u := steps(30, mb)
	var compactions int
	for i := range int64(100) {
		if p := u.step(usage{revision: 1031 + i, used: 1000 * mb}); p.compactTo > 0 {
			compactions++
		}
	}
	// One for the growth, one for the minute after it.
	if compactions > 2 {
		t.Errorf("%d compactions while nothing grows", compactions)
	}
}

func TestAStoreThatIsNotWrittenIsNotCompactedAgain(t *testing.T) {
	u := &upkeep{}
	var compactions []int64
	for range 4 * keptSteps {
		if p := u.step(usage{revision: 7, used: mb}); p.compactTo != 0 {
			compactions = append(compactions, p.compactTo)
		}
	}
	if len(compactions) != 1 || compactions[0] != 7 {
		t.Errorf("compacted to %v, want once to 7", compactions)
	}
}

func TestAFileIsMadeSmallerWhenItPaysAndTheStoreIsQuiet(t *testing.T) {
	quiet := upkeep{compacted: 1000}
	for sentence, tc := range map[string]struct {
		upkeep upkeep
		now    usage
		want   bool
	}{
		"a small file never is":                {quiet, usage{revision: 1000, file: slackBytes, used: mb}, false},
		"one that is half full is not":         {quiet, usage{revision: 1000, file: 200 * mb, used: 100 * mb}, false},
		"a greater one is":                     {quiet, usage{revision: 1000, file: 200*mb + 1, used: 100 * mb}, true},
		"a little history is quiet":            {quiet, usage{revision: 1000 + quietRevisions, file: 300 * mb, used: mb}, true},
		"more is not":                          {quiet, usage{revision: 1001 + quietRevisions, file: 300 * mb, used: mb}, false},
		"nor is one that etcd is dropping":     {upkeep{compacted: 1000, used: 50 * mb}, usage{revision: 1000, file: 300 * mb, used: 49 * mb}, false},
		"without a quiet moment after a while": {upkeep{wasteful: patientSteps - 1}, usage{revision: 9999, file: 300 * mb, used: mb}, true},
		"not before":                           {upkeep{wasteful: patientSteps - 2}, usage{revision: 9999, file: 300 * mb, used: mb}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := tc.upkeep.step(tc.now).defragment; got != tc.want {
				t.Errorf("defragmentation: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestPatienceStartsAnewWhenTheFileIsNeeded(t *testing.T) {
	u := upkeep{wasteful: patientSteps - 1}
	u.step(usage{revision: 9999, file: 300 * mb, used: 200 * mb})
	if u.step(usage{revision: 9999, file: 300 * mb, used: 10 * mb}).defragment {
		t.Error("a file that was used a step ago was made smaller")
	}
}

func TestFreedPagesAreMadeToCount(t *testing.T) {
	for sentence, tc := range map[string]struct {
		upkeep *upkeep
		now    usage
		want   bool
	}{
		"soon after a compaction":       {&upkeep{steps: 1}, usage{}, true},
		"while etcd removes history":    {&upkeep{steps: 10, used: mb}, usage{used: mb - 1}, true},
		"while the store is full":       {&upkeep{steps: 10}, usage{full: true}, true},
		"a store at rest is left alone": {&upkeep{steps: 10, used: mb}, usage{used: mb}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := tc.upkeep.step(tc.now).commit; got != tc.want {
				t.Errorf("commit: %v, want %v", got, tc.want)
			}
		})
	}
}
