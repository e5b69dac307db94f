package store

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const spinning = "STINT_STORE_TEST_SPINS"

func TestATaskEndsWhenItsCPUTimeIsUsedUp(t *testing.T) {
	if os.Getenv(spinning) != "" {
		if err := limitTime(1); err != nil {
			t.Fatal(err)
		}
		for {
			_ = os.Getpid()
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), spinning+"=yes")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "more CPU time than 300 s and 1 s for each 1 MiB that it writes") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestMoreCPUTimeIsAllowedForWhatIsWritten(t *testing.T) {
	var before, now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CPU, &before); err != nil || before.Max != unix.RLIM_INFINITY {
		t.Skipf("the CPU time is limited already: %v, %v", before, err)
	}
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_CPU, &before) }()
	take := childTask{Store: t.TempDir()}.take()
	for range 2049 {
		if err := take(512 << 10); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Getrlimit(unix.RLIMIT_CPU, &now); err != nil || now.Cur != firstSeconds+1024 {
		t.Errorf("%d s are allowed, %v", now.Cur, err)
	}
}
