package process_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// waiting is a container that writes its termination message when the file gate exists.
func (m *machine) waiting(gate, message string) runtime.Container {
	c := m.container("sh", "-c", "echo ready; until [ -e "+gate+" ]; do sleep 0.01; done\n"+
		"echo "+message+` > "${STINT_TERMINATION_LOG:-/dev/termination-log}"`)
	c.TerminationMessagePath = "/dev/termination-log"
	return c
}

// messageFile is the path of the termination message file of the only running container.
func (m *machine) messageFile() string {
	m.t.Helper()
	files, err := filepath.Glob(filepath.Join(m.runDir(), "slots", "*"))
	if err != nil || len(files) != 1 {
		m.t.Fatalf("the termination message files are %q (%v)", files, err)
	}
	return files[0]
}

// openTo makes a directory that containers of all users can enter.
func openTo(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "stint-message-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// asAnother runs a script as another user of this machine, outside of the container.
func asAnother(script string) error {
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 4321, Gid: 4321}}
	return cmd.Run()
}

func TestNoOtherUserCanForgeATerminationMessage(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can try it as another user")
	}
	users := map[string]*runtime.User{"root": nil, "a user": {UID: 1234, GID: 1234}}
	onEveryLevel(t, func(t *testing.T, m *machine) {
		for name, user := range users {
			t.Run(name, func(t *testing.T) {
				if user != nil && !m.Info().CanSetUser {
					t.Skip("no other users here")
				}
				gate := filepath.Join(openTo(t), "gate")
				c := m.waiting(gate, "mine")
				c.User = user
				m.start(c)
				await.Until(t, "the container runs", func() bool { _, err := os.Stat(c.LogPath); return err == nil })
				file := m.messageFile()
				for _, attack := range []string{"echo forged > %s", "cat %s", "rm %s", "ls $(dirname %s)"} {
					if attack = fmt.Sprintf(attack, file); asAnother(attack) == nil {
						t.Errorf("another user may: %s", attack)
					}
				}
				if err := os.WriteFile(gate, nil, 0o644); err != nil {
					t.Fatal(err)
				}
				if s := m.wait(c.ID); s.TerminationMessage != "mine\n" {
					t.Errorf("ended as %+v", s)
				}
			})
		}
	})
}

func TestEachAttemptHasATerminationMessageFileOfItsOwn(t *testing.T) {
	onEveryLevel(t, func(t *testing.T, m *machine) {
		kept := filepath.Join(openTo(t), "kept")
		var former os.FileInfo
		for i := range 3 {
			gate := filepath.Join(openTo(t), "gate")
			c := m.waiting(gate, "mine")
			m.start(c)
			await.Until(t, "the container runs", func() bool { _, err := os.Stat(c.LogPath); return err == nil })
			file := m.messageFile()
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			if former != nil && os.SameFile(former, info) {
				t.Error("a link that was kept leads to the next container's file")
			}
			if os.Link(file, kept+fmt.Sprint(i)) == nil {
				former = info
			}
			if err := os.WriteFile(gate, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if s := m.wait(c.ID); s.TerminationMessage != "mine\n" {
				t.Errorf("ended as %+v", s)
			}
			if files, _ := filepath.Glob(filepath.Join(m.runDir(), "slots", "*")); len(files) != 0 {
				t.Errorf("left: %q", files)
			}
		}
	})
}

func TestAFileInThePlaceOfTheTerminationMessageIsNotRead(t *testing.T) {
	m := start(t, func(c *process.Config) { c.NoNamespaces = true })
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := m.container("sh", "-c", `ln -sf `+secret+` "$STINT_TERMINATION_LOG"`)
	c.TerminationMessagePath = "/dev/termination-log"
	if s := m.run(c); s.TerminationMessage != "" {
		t.Errorf("ended as %+v", s)
	}
}

func TestAContainerThatBecomesAnotherUserCanWriteItsTerminationMessage(t *testing.T) {
	m := start(t)
	if _, err := exec.LookPath("setpriv"); err != nil || !m.Info().CanSetUser || !m.Info().CanMount {
		t.Skip("no other users, no mounts or no setpriv here")
	}
	if !strings.HasPrefix(m.Info().Isolation, "cgroup v2") {
		t.Skip("without cgroups the file is the first user's alone")
	}
	c := m.container("setpriv", "--reuid=1234", "--clear-groups", "sh", "-c", "echo mine > /dev/termination-log")
	c.TerminationMessagePath = "/dev/termination-log"
	if s := m.run(c); s.TerminationMessage != "mine\n" {
		t.Errorf("ended as %+v", s)
	}
}

func TestWhatAContainerMountsIsNotThereForTheNextOne(t *testing.T) {
	m := start(t)
	if os.Geteuid() != 0 || !m.Info().CanMount {
		t.Skip("only root's containers can mount, where this user may")
	}
	decoy := t.TempDir()
	c := m.container("mount", "-t", "tmpfs", "stint-decoy", decoy)
	c.TerminationMessagePath = "/dev/termination-log"
	if s := m.run(c); s.ExitCode != 0 {
		t.Fatalf("nothing was mounted: %+v", s)
	}
	next := m.container("cat", "/proc/self/mountinfo")
	next.TerminationMessagePath = "/dev/termination-log"
	m.run(next)
	if out := m.output(next); out == "" || strings.Contains(out, decoy) {
		t.Errorf("the next container sees %s", out)
	}
}
