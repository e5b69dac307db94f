package process_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/unprivileged"
)

// The host's program is a copy, which a container gets hold of by executing /proc/self/exe (CVE-2019-5736).
func TestAContainerCannotWriteToTheProgramOfTheHost(t *testing.T) {
	copied := filepath.Join(t.TempDir(), "stint")
	unprivileged.CopyProgram(t, copied)
	if needsLoader(t, copied) {
		t.Skip("the image has no loader for this program, as one with the race detector needs")
	}
	m := start(t, func(c *process.Config) { c.Executable = copied })
	if !m.Info().CanRunImages {
		t.Skip("images cannot be run here: " + m.Info().WhyNoImages)
	}
	m.needExec()
	tree := imageTree(t)
	if err := os.WriteFile(filepath.Join(tree, "evil"), []byte("#!/proc/self/exe\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := m.imageContainer(tree, "/evil")
	c.Env = []string{"PATH=/bin", hangUpVariable + "=/"}
	if s := m.start(c); s.State != runtime.Running {
		t.Fatalf("%+v", s)
	}
	await.Until(t, "the container executes the program", func() bool { return m.outputIfAny(c) == "ready\n" })
	const attack = "exec 5< /proc/1/exe; : > /proc/self/fd/5"
	if code, _, problem := m.exec(c.ID, "", "sh", "-c", attack); code == 0 || !strings.Contains(problem, "Read-only file system") {
		t.Errorf("a container that writes to the host's program ended with %d: %s", code, problem)
	}
	if err := m.Stop(await.Context(t), c.ID, 0); err != nil {
		t.Fatal(err)
	}
	m.wait(c.ID)
}

// The memory of the host has the environments of all containers.
func TestAContainerOfTheSameUserCannotReadTheMemoryOfTheHost(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read all memory")
	}
	m := start(t, func(c *process.Config) { c.NoNamespaces = true })
	c := m.container("sh", "-c", "for p in $PPID $$; do for f in environ mem maps; do head -c 0 /proc/$p/$f 2>/dev/null && echo $f; done; done")
	if got := m.printed(c); got != "environ\nmem\nmaps\n" {
		t.Errorf("besides its own memory, a container can open that of its parent: %q", got)
	}
}

// needsLoader reports whether a program is linked with libraries of the machine.
func needsLoader(t *testing.T, path string) bool {
	t.Helper()
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	return slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}
