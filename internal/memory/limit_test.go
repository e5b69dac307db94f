package memory

import (
	"runtime"
	"testing"
)

func TestLimitStaysWithinTheContainer(t *testing.T) {
	for container, want := range map[string]int64{"max\n": 4000, "": 4000, "1000\n": 900, "100000\n": 4000} {
		if got := within(4000, []byte(container)); got != want {
			t.Errorf("within(4000, %q) = %d, want %d", container, got, want)
		}
	}
}

func TestALimitIsExceededByWhatIsKept(t *testing.T) {
	kept := make([]byte, 64<<20)
	runtime.GC()
	if err := (Limit{80 << 20}).Exceeded(); err == nil {
		t.Error("64 MB leave a quarter of 80 MB")
	}
	if err := (Limit{1 << 40}).Exceeded(); err != nil {
		t.Error(err)
	}
	runtime.KeepAlive(kept)
}
