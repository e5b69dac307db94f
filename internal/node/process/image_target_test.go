package process_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// beside returns another container of the pod of target, which shares its process ids.
func (m *machine) beside(target runtime.Container, script string) runtime.Container {
	c := m.imageContainer(target.Root.Tree, "sh", "-c", script)
	c.PodUID, c.Container, c.Root.PIDsOf = target.PodUID, "debugger", &target.ID
	return c
}

func TestAContainerSharesTheProcessIDsOfAnother(t *testing.T) {
	onEveryLevel(t, func(t *testing.T, m *machine) {
		if !m.Info().CanRunImages {
			t.Skip("images cannot be run here: " + m.Info().WhyNoImages)
		}
		testSharedProcessIDs(t, m)
	})
}

func testSharedProcessIDs(t *testing.T, m *machine) {
	if !m.Info().CanSharePIDsOf {
		t.Fatal("the process ids of a container cannot be shared")
	}
	target := m.imageContainer(imageTree(t), "sh", "-c", "trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.05; done")
	m.start(target)
	await.Until(t, "the target runs", func() bool { return m.outputIfAny(target) == "ready\n" })

	const word = "98761234"
	c := m.beside(target, "tr '\\0' ' ' < /proc/1/cmdline | cut -c 1-14; echo $COLOUR; (setsid sleep "+word+" &); test $$ != 1 && echo beside")
	c.Env = []string{"COLOUR=blue"}
	if got := m.printed(c); got != "sh -c trap 'ec\nblue\nbeside\n" {
		t.Errorf("it prints %q", got)
	}
	if n := alive(t, word); n != 0 {
		t.Errorf("%d processes are left of the container that has ended", n)
	}
	c = m.beside(target, "kill 1 && echo sent; exec sleep "+word)
	c.Attempt = 1
	m.start(c)
	if s := m.wait(target.ID); s.ExitCode != 3 || !strings.Contains(m.output(target), "asked") {
		t.Errorf("the target ended with %+v", s)
	}
	if s := m.wait(c.ID); s.ExitCode != 137 || m.output(c) != "sent\n" {
		t.Errorf("the container beside it ended with %+v: %q", s, m.output(c))
	}
}

// Each process forks and ends at once, and process 1 of the target is the next one's parent.
func TestAProcessThatIsAlwaysAnotherOneEndsBesideTheTarget(t *testing.T) {
	m := start(t, func(c *process.Config) { c.NoCgroups = true })
	if !m.Info().CanRunImages || !m.Info().CanSharePIDsOf {
		t.Skip("images cannot be run here: " + m.Info().WhyNoImages)
	}
	target := m.imageContainer(imageTree(t), "sh", "-c", "while :; do sleep 0.05; done")
	m.start(target)
	dir := t.TempDir()
	steps := filepath.Join(dir, "steps")
	for attempt := range int32(20) {
		c := m.beside(target, "hop() { echo >> /dir/steps; hop & }; (hop &); until [ -e /dir/steps ]; do :; done")
		c.Attempt, c.Mounts = attempt, []runtime.Mount{{HostPath: dir, ContainerPath: "/dir"}}
		m.run(c)
		m.checkNoStep(steps)
	}
}

func TestTheTargetMustRunInTheSamePod(t *testing.T) {
	m := imager(t)
	target := m.imageContainer(imageTree(t))
	id := m.sleeper(target)
	other := m.beside(target, "true")
	other.PodUID = "another-pod"
	if s := m.run(other); !strings.Contains(s.StartError, "of another pod") {
		t.Errorf("in another pod: %+v", s)
	}
	m.end(id)
	late := m.beside(target, "true")
	if s, err := m.Start(await.Context(t), late); err == nil || !strings.Contains(err.Error(), `container "main", whose process ids it is to share, does not run`) {
		t.Errorf("after its end: %+v, %v", s, err)
	}
}
