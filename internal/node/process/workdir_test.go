package process_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The descriptors of the host process must not lead a container to the machine's files, whatever its working directory.
func TestAWorkingDirectoryIsNoDescriptorOfTheHost(t *testing.T) {
	m := imager(t)
	tree := imageTree(t)
	for fd := range 40 {
		c := m.imageContainer(tree, "sh", "-c", "ls")
		c.WorkingDir = fmt.Sprint("/proc/self/fd/", fd)
		s := m.run(c)
		if fd > 2 && !strings.Contains(s.StartError, "cannot enter the working directory") {
			t.Errorf("descriptor %d is its working directory: it ended with %d %q", fd, s.ExitCode, s.StartError)
		}
	}
}

// While a container without root is prepared, its root file system has the machine's /proc, in which the host process is "self".
func TestAWorkingDirectoryIsNotMadeOnTheMachine(t *testing.T) {
	m := imager(t)
	decoy := t.TempDir()
	c := m.imageContainer(imageTree(t), "sh", "-c", "ls")
	for _, proc := range []string{"/proc", "/dev/mqueue"} {
		c.Container = "in" + strings.ReplaceAll(proc, "/", "-")
		c.WorkingDir = proc + "/self/root" + decoy + "/made"
		m.run(c)
		if entries, err := os.ReadDir(decoy); err != nil || len(entries) > 0 {
			t.Errorf("%s: the directory of the machine has %v, %v", c.WorkingDir, entries, err)
		}
	}
}
