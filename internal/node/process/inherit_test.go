package process_test

import (
	"fmt"
	"syscall"
	"testing"
)

// The host ignores some signals. With SIGPIPE ignored, a program would go on to write to a pipe that nothing reads.
func TestContainersIgnoreNoSignal(t *testing.T) {
	onEveryLevel(t, func(t *testing.T, m *machine) {
		c := m.container("grep", "SigIgn", "/proc/self/status")
		m.run(c)
		if got := m.output(c); got != "SigIgn:\t0000000000000000\n" {
			t.Errorf("a container starts with %q", got)
		}
	})
}

// Go raises the limit of the host itself.
func TestContainersHaveTheFileLimitThatTheHostWasStartedWith(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	low := syscall.Rlimit{Cur: before.Max / 2, Max: before.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before) })
	onEveryLevel(t, func(t *testing.T, m *machine) {
		c := m.container("sh", "-c", "ulimit -n")
		m.run(c)
		if got := m.output(c); got != fmt.Sprintln(low.Cur) {
			t.Errorf("the limit is %q, the host was started with %d", got, low.Cur)
		}
	})
}
