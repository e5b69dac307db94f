package process_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// messageMachine is a machine on which a termination message file can serve several containers.
func messageMachine(t *testing.T) *machine {
	m := start(t)
	if !m.Info().CanMount || !m.Info().CanSetUser || !strings.HasPrefix(m.Info().Isolation, "cgroup v2") {
		t.Skip("each container has a new file here")
	}
	return m
}

// messenger is a container that prints which file its termination message file is, and then runs script.
func (m *machine) messenger(user *runtime.User, script string) runtime.Container {
	c := m.container("sh", "-c", "stat -c %i /dev/termination-log\n"+script)
	c.TerminationMessagePath = "/dev/termination-log"
	c.User = user
	return c
}

// nextMessage runs a container that writes a termination message, and returns which file it has written.
func (m *machine) nextMessage(user *runtime.User) string {
	m.t.Helper()
	c := m.messenger(user, "echo mine > /dev/termination-log")
	if s := m.run(c); s.TerminationMessage != "mine\n" {
		m.t.Errorf("ended as %+v", s)
	}
	return m.output(c)
}

func TestAnUnusedTerminationMessageFileServesTheNextContainerOfTheUser(t *testing.T) {
	m := messageMachine(t)
	one, other := &runtime.User{UID: 1234, GID: 1234}, &runtime.User{UID: 1234, GID: 1234, Groups: []uint32{4321}}
	for name, tc := range map[string]struct {
		former, next *runtime.User
		same         bool
	}{
		"root after root":                {nil, nil, true},
		"a user after itself":            {one, &runtime.User{UID: 1234, GID: 1234}, true},
		"a user after root":              {nil, one, false},
		"root after a user":              {one, nil, false},
		"a user with groups after fewer": {one, other, false},
	} {
		t.Run(name, func(t *testing.T) {
			m.t = t
			former := m.messenger(tc.former, "cat /dev/termination-log")
			if s := m.run(former); s.ExitCode != 0 || s.TerminationMessage != "" {
				t.Fatalf("ended as %+v", s)
			}
			if file := m.nextMessage(tc.next); (file == m.output(former)) != tc.same {
				t.Errorf("the files are %s and %s, want the same: %v", m.output(former), file, tc.same)
			}
		})
	}
}

func TestATerminationMessageFileThatWasChangedServesNoOtherContainer(t *testing.T) {
	m := messageMachine(t)
	for name, script := range map[string]string{
		"written":              "echo former > FILE",
		"written and emptied":  "echo former > FILE; : > FILE",
		"given another mode":   "chmod 600 FILE",
		"given away":           "chown 1234 FILE",
		"mounted as read-only": "mount -o remount,bind,ro FILE",
		"unmounted":            "umount FILE",
	} {
		t.Run(name, func(t *testing.T) {
			m.t = t
			former := m.messenger(nil, strings.ReplaceAll(script, "FILE", "/dev/termination-log"))
			if s := m.run(former); s.ExitCode != 0 {
				t.Fatalf("ended as %+v", s)
			}
			if file := m.nextMessage(nil); file == m.output(former) {
				t.Errorf("the next container has the same file, %s", file)
			}
		})
	}
}

// A container can pass a descriptor to a process outside of it, which may then open the file again.
func TestATerminationMessageFileThatAProcessHoldsServesNoOtherContainer(t *testing.T) {
	m := messageMachine(t)
	former, held := m.formerAndItsFile(unix.O_PATH)
	defer unix.Close(held)
	if file := m.nextMessage(nil); file == m.output(former) {
		t.Errorf("the next container has the same file, %s", file)
	}
}

func TestATerminationMessageFileThatAProcessHeldAfterItsContainerServesNoOther(t *testing.T) {
	m := messageMachine(t)
	_, held := m.formerAndItsFile(unix.O_RDWR)
	if _, err := unix.Write(held, []byte("forged")); err != nil {
		t.Fatal(err)
	}
	unix.Close(held)
	if s := m.run(m.messenger(nil, "true")); s.TerminationMessage != "" {
		t.Errorf("the next container has the message %q", s.TerminationMessage)
	}
}

func TestAContainerWithoutATerminationMessageFileHasNoMessage(t *testing.T) {
	m := messageMachine(t)
	_, held := m.formerAndItsFile(unix.O_RDWR)
	defer unix.Close(held)
	if _, err := unix.Write(held, []byte("forged")); err != nil {
		t.Fatal(err)
	}
	if s := m.run(m.container("true")); s.TerminationMessage != "" {
		t.Errorf("it has the message %q", s.TerminationMessage)
	}
}

// formerAndItsFile runs a container that leaves its termination message file alone, and returns a descriptor of the file that
// was opened from outside.
func (m *machine) formerAndItsFile(flags int) (former runtime.Container, held int) {
	m.t.Helper()
	gate := filepath.Join(m.t.TempDir(), "gate")
	former = m.messenger(nil, "until [ -e "+gate+" ]; do sleep 0.01; done")
	s := m.start(former)
	await.Until(m.t, "the container runs", func() bool { _, err := os.Stat(former.LogPath); return err == nil })
	held, err := unix.Open("/proc/"+strconv.Itoa(s.PID)+"/root/dev/termination-log", flags|unix.O_CLOEXEC, 0)
	if err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(gate, nil, 0o644); err != nil {
		m.t.Fatal(err)
	}
	m.wait(former.ID)
	return former, held
}
