package process_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stint-dev/stint/test/await"
)

// decoyCgroup makes a cgroup of version 2 beside those of the containers.
func (m *machine) decoyCgroup(t *testing.T) string {
	t.Helper()
	for _, dir := range m.cgroups(m.runDir()) {
		decoy := filepath.Join(dir, "decoy")
		if _, err := os.Stat(filepath.Join(dir, "cgroup.kill")); err != nil || os.Mkdir(decoy, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			await.Until(t, "the decoy is empty", func() bool { return os.Remove(decoy) == nil })
		})
		return decoy
	}
	t.Skip("no cgroups of version 2 here: " + m.Info().Isolation)
	return ""
}

func TestWhatMovesToAnotherCgroupEndsWithItsContainer(t *testing.T) {
	m := start(t)
	decoy := m.decoyCgroup(t)
	for name, script := range map[string]string{
		"the container itself":  "echo $$ > DECOY/cgroup.procs; setsid sleep FOREVER & sleep FOREVER &",
		"a daemon":              "(setsid sh -c 'echo $$ > DECOY/cgroup.procs; sleep FOREVER' &)",
		"one without a mark":    "(env -i sh -c 'echo $$ > DECOY/cgroup.procs; sleep FOREVER' &)",
		"the child of a daemon": "(setsid sh -c 'sh -c \"echo \\$\\$ > DECOY/cgroup.procs; sleep FOREVER\"; true' &)",
	} {
		n := unique()
		script = strings.NewReplacer("DECOY", decoy, "FOREVER", n).Replace(script)
		moved := "\nuntil grep -q . " + decoy + "/cgroup.procs; do sleep 0.01; done\n"
		t.Run(name, func(t *testing.T) {
			if s := m.run(m.container("sh", "-c", script+moved+"exit 7")); s.ExitCode != 7 {
				t.Errorf("ended as %+v", s)
			}
			if left := alive(t, n); left != 0 {
				t.Errorf("%d processes have outlived their container", left)
				end, _ := os.ReadFile(filepath.Join(decoy, "cgroup.procs"))
				t.Logf("in the decoy: %s", end)
				_ = os.WriteFile(filepath.Join(decoy, "cgroup.kill"), []byte("1"), 0)
			}
		})
		t.Run(name+", killed", func(t *testing.T) {
			c := m.container("sh", "-c", "trap '' TERM; "+script+moved+"while :; do sleep "+n+"; done")
			m.start(c)
			await.Until(t, "the container has children", func() bool { return alive(t, "sleep\x00"+n) >= 2 })
			m.stop(c.ID, 10*time.Millisecond)
			if s := m.wait(c.ID); s.Signal != 9 {
				t.Errorf("ended as %+v", s)
			}
			if left := alive(t, n); left != 0 {
				t.Errorf("%d processes have outlived their container", left)
				_ = os.WriteFile(filepath.Join(decoy, "cgroup.kill"), []byte("1"), 0)
			}
		})
	}
}
