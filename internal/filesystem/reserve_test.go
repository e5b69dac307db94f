package filesystem

import (
	"errors"
	"math"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/test/smalldisk"
)

func TestReserve(t *testing.T) {
	for _, test := range []struct{ bytes, free, reserve, room int64 }{
		{100 << 20, 50 << 20, 5 << 20, 45 << 20},
		{100 << 20, 4 << 20, 5 << 20, 0},
		{1 << 50, 1 << 40, 256 << 20, 1<<40 - 256<<20},
		{math.MaxInt64, math.MaxInt64, 256 << 20, math.MaxInt64 - 256<<20},
		{0, 0, 0, math.MaxInt64}, // A tmpfs without a limit.
	} {
		s := Space{Bytes: test.bytes, BytesAvailable: test.free}
		if s.Reserve() != test.reserve || s.Room() != test.room {
			t.Errorf("of %d bytes, %d of them free, %d are in reserve and %d may be used", test.bytes, test.free, s.Reserve(), s.Room())
		}
	}
	if got := bytesOf(math.MaxUint64, 4096); got != math.MaxInt64 {
		t.Errorf("the size of an endless file system is %d", got)
	}
}

func TestText(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 MiB", 5 << 20: "5 MiB", 3 << 29: "1.5 GiB", 2 << 40: "2.0 TiB", 1 << 50: "1.0 PiB", math.MaxInt64: "8192.0 PiB",
	} {
		if got := Text(bytes); got != want {
			t.Errorf("Text(%d) = %s, want %s", bytes, got, want)
		}
	}
}

func TestAGuardKeepsTheReserve(t *testing.T) {
	smalldisk.Run(t, 20, func(dir string) {
		g := NewGuard(dir)
		if err := g.Take(18 << 20); err != nil {
			t.Errorf("what fits is refused: %v", err)
		}
		if err := NewGuard(dir).Take(20 << 20); !IsFull(err) {
			t.Errorf("the reserve is given away: %v", err)
		}
		smalldisk.Fill(t, filepath.Join(dir, "other"), 18)
		if err := g.Take(2 << 20); !IsFull(err) {
			t.Errorf("after another program has written, the reserve is given away: %v", err)
		}
		if err := NewGuard(dir).Take(1 << 19); err != nil {
			t.Errorf("what fits is refused: %v", err)
		}
	})
}

func TestTheTextOfAnErrorSaysThatADiskIsFull(t *testing.T) {
	for err, want := range map[error]bool{
		nil:             false,
		unix.ENOENT:     false,
		unix.ENOSPC:     true,
		&reserveError{}: true,
		errors.New("start container \"main\": make /a: no space left on device"): true,
		errors.New("write /a: disk quota exceeded"):                              true,
	} {
		if got := SaysFull(err); got != want {
			t.Errorf("SaysFull(%v) = %t", err, got)
		}
	}
}
