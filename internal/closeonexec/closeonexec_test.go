package closeonexec

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestNothingThatWasInheritedIsHandedOn(t *testing.T) {
	for name, keep := range map[string]func() error{"in one call": Keep, "one by one": keepEach} {
		t.Run(name, func(t *testing.T) {
			file, err := os.Open(os.DevNull)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			inherited, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD, 100)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(inherited)
			if err := keep(); err != nil {
				t.Fatal(err)
			}
			if flags, err := unix.FcntlInt(uintptr(inherited), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
				t.Errorf("a program that is executed now gets descriptor %d (%v)", inherited, err)
			}
			if flags, err := unix.FcntlInt(0, unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC != 0 {
				t.Errorf("it has no standard input (%v)", err)
			}
		})
	}
}
