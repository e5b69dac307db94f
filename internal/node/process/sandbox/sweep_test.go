package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
)

// Without cgroups of version 2, a process that has removed the mark from its environment is found only in this cgroup.
func TestSweepKillsWhatIsInTheSharedPIDsCgroup(t *testing.T) {
	all, err := hierarchies()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(h hierarchy) bool { return slices.Contains(h.controllers, "pids") })
	if at < 0 {
		t.Skip("there is no pids controller of version 1 here")
	}
	name := fmt.Sprintf("stint-sweep-test-%d", os.Getpid())
	dir := filepath.Join(all[at].home, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) })

	left := exec.Command("cat")
	stdin, err := left.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	if err := setFile(dir, "cgroup.procs", strconv.Itoa(left.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	Sweep(name, []string{dir}, nil)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the cgroup is still there (%v)", err)
	}
	// Ends a process that was not killed.
	stdin.Close()
	_ = left.Wait()
	if status, ok := left.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Errorf("the process ended by itself: %s", left.ProcessState)
	}
}
