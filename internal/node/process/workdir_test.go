package process_test

import (
	"fmt"
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
