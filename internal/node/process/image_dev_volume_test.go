package process_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/unprivileged"
)

// deceiver returns a container with volumes whose content another container controls: the folders of /dev or /sys are links.
func (m *machine) deceiver(t *testing.T, at string, links map[string]string, script string) runtime.Container {
	t.Helper()
	decoy, volume := t.TempDir(), t.TempDir()
	write(t, filepath.Join(decoy, "word"), "of the decoy\n")
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(volume, name)); err != nil {
			t.Fatal(err)
		}
	}
	c := m.imageContainer(imageTree(t), "sh", "-c", script)
	c.TerminationMessagePath = ""
	c.Mounts = []runtime.Mount{{HostPath: decoy, ContainerPath: "/decoy"}, {HostPath: volume, ContainerPath: at}}
	return c
}

func TestNoMountOfAnImageLeadsThroughAVolume(t *testing.T) {
	m := imager(t)
	for name, test := range map[string]struct {
		at     string
		links  map[string]string
		script string
	}{
		"the null device": {"/dev", map[string]string{"null": "/decoy/word"}, "cat /proc/keys /proc/timer_list /proc/interrupts"},
		"the queues":      {"/dev", map[string]string{"mqueue": "/decoy"}, "grep ' - mqueue ' /proc/self/mountinfo | grep /decoy"},
		"the cgroups":     {"/sys", map[string]string{"fs": "/decoy"}, "ls /decoy | grep -v word"},
	} {
		t.Run(name, func(t *testing.T) {
			c := m.deceiver(t, test.at, test.links, test.script+"; true")
			if got := m.printed(c); got != "" {
				t.Errorf("it shows\n%s", got)
			}
		})
	}
}

func TestAVolumeTakesThePlaceOfTheQueues(t *testing.T) {
	m := imager(t)
	c := m.deceiver(t, "/dev/mqueue", map[string]string{"link": "/decoy/word"},
		"cat /dev/mqueue/link; ls -A /dev | grep proc; grep -c ' - proc proc ' /proc/self/mountinfo; ls -d /proc/[0-9]* | wc -l")
	c.Root.Unmasked = true
	if got := strings.Fields(m.printed(c)); strings.Join(got, " ") != "of the decoy 1 3" {
		t.Errorf("it prints %q", got)
	}
}

func TestNoTerminalIsOpenedThroughAVolume(t *testing.T) {
	m := imager(t)
	for _, links := range []map[string]string{{"ptmx": "/decoy/word"}, {"pts": "/decoy"}, {}} {
		c := m.deceiver(t, "/dev", links, "test -t 0 && echo terminal; until [ -e /decoy/end ]; do sleep 0.05; done")
		c.TTY = true
		if len(links) == 0 {
			pts := filepath.Join(c.Mounts[1].HostPath, "pts")
			if err := os.Mkdir(pts, 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(pts, "ptmx"), "")
		}
		m.start(c)
		await.Until(t, "the container prints", func() bool { return m.outputIfAny(c) != "" })
		if got := m.output(c); got != "terminal\r\n" {
			t.Errorf("with %v it prints %q", links, got)
		}
		_, err := m.Exec(await.Context(t), c.ID, runtime.Command{Args: []string{"true"}, TTY: true}, runtime.Streams{})
		if err == nil || !strings.Contains(err.Error(), "open a terminal: ") {
			t.Errorf("a command beside %v: %v", links, err)
		}
		write(t, filepath.Join(c.Mounts[0].HostPath, "end"), "")
		m.wait(c.ID)
	}
}

// Who may make user namespaces may not make them below another root directory than that of the mount namespace.
func TestAnImageHasTheRootDirectoryOfItsMountNamespace(t *testing.T) {
	m := imager(t)
	if got := m.printed(m.imageContainer(imageTree(t), "unshare", "-U", "echo", "made")); got != "made\n" {
		t.Errorf("it prints %q", got)
	}
}

func TestVolumesOverDevWithSubordinateIDs(t *testing.T) {
	unprivileged.WithSubordinateIDs(t, "LeadsThroughAVolume|TakesThePlace|ThroughAVolume|RootDirectoryOfItsMount")
}
