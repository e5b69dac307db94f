package crash

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

var (
	crashKills = flag.Int("crash.kills", 6, "how many times the server is killed; half of that where Jobs run")
	crashSeed  = flag.Uint64("crash.seed", 0, "the one seed of the instants at which it is, instead of those that are kept")
	crashFresh = flag.Bool("crash.fresh", false, "play a new seed instead, and say what to keep if it fails")
)

// seedsFile has the seeds that are always played: one on each line, with the reason why it is kept.
const seedsFile = "testdata/seeds"

// eachSeed plays every seed that was asked for.
func eachSeed(t *testing.T, play func(*testing.T, uint64)) {
	seeds := []uint64{*crashSeed}
	switch {
	case *crashFresh:
		seeds[0] = rand.Uint64()
	case *crashSeed == 0:
		seeds = keptSeeds(t)
	}
	for _, seed := range seeds {
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) { play(t, seed) }) && *crashFresh {
			t.Logf("keep this seed: add the next line to test/crash/%s, with what it broke\n%d  # %s", seedsFile, seed, t.Name())
		}
	}
}

func keptSeeds(t *testing.T) (seeds []uint64) {
	t.Helper()
	text, err := os.ReadFile(seedsFile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		number, _, _ := strings.Cut(line, "#")
		if strings.TrimSpace(number) == "" {
			continue
		}
		var seed uint64
		if _, err := fmt.Sscan(number, &seed); err != nil {
			t.Fatalf("%s: %q: %v", seedsFile, line, err)
		}
		seeds = append(seeds, seed)
	}
	return seeds
}
