package process_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	goruntime "runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// inSession is set in a test that runs again with a key in its session keyring.
const inSession = "STINT_TEST_SESSION"

const keyName = "stint-test-key"

// withKey runs the test, which does nothing else, again in a session that has a key. Only those see the key in /proc/keys who possess it.
func withKey(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	if os.Getenv(inSession) == t.Name() {
		test(t)
		return
	}
	out := make(chan error, 1)
	var text []byte
	go func() {
		goruntime.LockOSThread() // The thread ends with the goroutine.
		out <- func() (err error) {
			if _, err = unix.KeyctlJoinSessionKeyring("stint-test"); err != nil {
				return fmt.Errorf("%w: %w", errNoKeys, err)
			}
			id, err := unix.AddKey("user", keyName, []byte("word"), unix.KEY_SPEC_SESSION_KEYRING)
			if err != nil {
				return fmt.Errorf("%w: %w", errNoKeys, err)
			}
			const possessor = 0x3f000000
			if err = unix.KeyctlSetperm(id, possessor); err != nil {
				return err
			}
			cmd := exec.Command(os.Args[0], "-test.v", "-test.count=1", "-test.run=^"+t.Name()+"$")
			cmd.Env = append(os.Environ(), inSession+"="+t.Name())
			text, err = cmd.CombinedOutput()
			return err
		}()
	}()
	err := <-out
	t.Logf("%s", text)
	switch {
	case err != nil && strings.Contains(err.Error(), errNoKeys.Error()):
		t.Skip(err)
	case err != nil:
		t.Error(err)
	}
}

var errNoKeys = fmt.Errorf("keys cannot be made here")

const showKey = "grep -c " + keyName + " /proc/keys"

func TestNoContainerHasTheSessionKeyring(t *testing.T) {
	withKey(t, func(t *testing.T) {
		out, err := exec.Command("sh", "-c", showKey).Output()
		if err != nil || string(out) != "1\n" {
			t.Fatalf("this process sees %q of its key: %v", out, err)
		}
		m := start(t)
		m.checkNoKey(t, m.container())
		if m.Info().CanRunImages {
			c := m.imageContainer(imageTree(t))
			c.Root.Unmasked = true
			m.checkNoKey(t, c)
		}
	})
}

// checkNoKey looks for the key in the container, and in a command beside it.
func (m *machine) checkNoKey(t *testing.T, c runtime.Container) {
	t.Helper()
	id := m.sleeper(c)
	if m.Info().CanExec {
		if _, out, errs := m.exec(id, "", "sh", "-c", showKey); out != "0\n" {
			t.Errorf("a command sees %q %s", out, errs)
		}
	}
	m.end(id)
	c.Attempt, c.Command = 1, []string{"sh", "-c", showKey + "; true"}
	m.run(c)
	if got := m.output(c); !strings.HasSuffix(got, "0\n") {
		t.Errorf("the container sees %q", got)
	}
}

func TestProcessesKeepTheSessionKeyring(t *testing.T) {
	withKey(t, func(t *testing.T) {
		m := start(t, func(c *process.Config) { c.KeepSessionKeyring = true })
		if got := m.printed(m.container("sh", "-c", showKey)); got != "1\n" {
			t.Errorf("a process sees %q", got)
		}
		if m.Info().CanRunImages {
			c := m.imageContainer(imageTree(t))
			c.Root.Unmasked = true
			m.checkNoKey(t, c)
		}
	})
}

// A user may have 200 keys, and the kernel frees them late.
func TestManyContainersStartThoughAUserHasFewKeys(t *testing.T) {
	m := start(t)
	for i := range 1000 {
		c := m.container("true")
		c.Attempt = int32(i)
		if s := m.run(c); s.ExitCode != 0 || s.StartError != "" {
			t.Fatalf("start %d: %+v", i, s)
		}
	}
}

func TestAContainerOfAUserWhoHasNoKeysLeftMayNotUseKeys(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may have a million keys")
	}
	withKey(t, func(t *testing.T) {
		m := start(t)
		const script = "grep Seccomp: /proc/self/status; " + showKey
		containers := []runtime.Container{m.container("sh", "-c", script)}
		if m.Info().CanRunImages {
			c := m.imageContainer(imageTree(t), "sh", "-c", script)
			c.Root.Unmasked = true
			containers = append(containers, c)
		}
		for _, c := range containers {
			// A key that was freed meanwhile may serve the container.
			await.Until(t, "a container has no keys", func() bool {
				takeAllKeys(t)
				m.run(c)
				c.Attempt++
				return strings.HasSuffix(m.output(c), "Seccomp:\t2\n0\n")
			})
		}
	})
}

func takeAllKeys(t *testing.T) {
	t.Helper()
	for {
		_, err := unix.AddKey("user", "stint-test-"+rand.Text(), []byte("word"), unix.KEY_SPEC_SESSION_KEYRING)
		if errors.Is(err, unix.EDQUOT) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// showSession has this test program print its session keyring.
const showSession = "STINT_TEST_SHOW_SESSION=1"

func init() {
	if os.Getenv("STINT_TEST_SHOW_SESSION") != "" {
		fmt.Println(unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false))
		os.Exit(0)
	}
}

func TestNoContainersShareASessionKeyring(t *testing.T) {
	m := start(t)
	seen := map[string]bool{}
	for i := range 20 {
		c := m.container(os.Args[0])
		c.Attempt, c.Env = int32(i), []string{showSession}
		c.LogPath += fmt.Sprint(".", i)
		if session := m.printed(c); seen[session] {
			t.Errorf("%s was that of another container", session)
		} else {
			seen[session] = true
		}
	}
}
