package memory

import "testing"

func TestLimitStaysWithinTheContainer(t *testing.T) {
	for container, want := range map[string]int64{"max\n": 4000, "": 4000, "1000\n": 900, "100000\n": 4000} {
		if got := within(4000, []byte(container)); got != want {
			t.Errorf("within(4000, %q) = %d, want %d", container, got, want)
		}
	}
}
