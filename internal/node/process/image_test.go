package process_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// imageTree is the tree of an image with busybox in it.
func imageTree(t testing.TB) string {
	t.Helper()
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Skip("there is no busybox to make an image of: install busybox-static")
	}
	program, err := os.ReadFile(busybox)
	if err != nil {
		t.Fatal(err)
	}
	tree := filepath.Join(t.TempDir(), "tree")
	for _, dir := range []string{"bin", "dev", "proc", "sys", "etc", "tmp", "home"} {
		if err := os.MkdirAll(filepath.Join(tree, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(tree, "tmp"), 0o1777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree, "bin", "busybox"), program, 0o755); err != nil {
		t.Fatal(err)
	}
	list, err := exec.Command(busybox, "--list").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(list)) {
		if name != "busybox" {
			_ = os.Symlink("busybox", filepath.Join(tree, "bin", name))
		}
	}
	write(t, filepath.Join(tree, "etc", "os-release"), "NAME=test\n")
	return tree
}

// imager is a machine that can run images.
func imager(t testing.TB) *machine {
	t.Helper()
	m := start(t)
	if !m.Info().CanRunImages {
		t.Skip("images cannot be run here: " + m.Info().WhyNoImages)
	}
	return m
}

// defaultCapabilities are those that containerd gives.
const defaultCapabilities = 1<<0 | 1<<1 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<10 | 1<<13 | 1<<18 | 1<<29 | 1<<31

func (m *machine) imageContainer(tree string, command ...string) runtime.Container {
	c := m.container(command...)
	c.Root = &runtime.Root{Tree: tree, Capabilities: defaultCapabilities}
	c.TerminationMessagePath = "/dev/termination-log"
	c.Hostname = "worker"
	return c
}

func TestAContainerSeesItsImage(t *testing.T) {
	m := imager(t)
	tree := imageTree(t)
	c := m.imageContainer(tree, "sh", "-c", "cat /etc/os-release; hostname; echo $$; ls /; id; mount; cat /proc/self/status; ls -l /dev /proc/1; echo hi > /tmp/x; echo msg > /dev/termination-log; env; exit 3")
	s := m.run(c)
	t.Log(m.output(c))
	t.Log(s)
}
