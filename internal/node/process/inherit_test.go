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
		var ignored uint64
		if _, err := fmt.Sscanf(m.output(c), "SigIgn:\t%x", &ignored); err != nil {
			t.Fatal(err)
		}
		// Programs that glibc starts ignore some signals above the standard ones, and the host and its containers with them.
		if standard := ignored & (1<<31 - 1); standard != 0 {
			t.Errorf("a container ignores the signals %#x", standard)
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
