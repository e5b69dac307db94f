package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// trySysctls reports whether a container can have kernel parameters of its own. Before Linux 6.9 only root of the machine
// can set them.
func (b *Sandbox) trySysctls() bool {
	const harmless = "kernel.shm_rmid_forced"
	return b.jobs.run(func(t *thread) error { return t.enterIPC(map[string]string{harmless: "1"}) }) == nil
}

// enterIPC moves the thread into a new ipc namespace with these kernel parameters.
func (t *thread) enterIPC(sysctls map[string]string) error {
	machine, err := os.Open("/proc/thread-self/ns/ipc")
	if err != nil {
		return err
	}
	if err := unix.Unshare(unix.CLONE_NEWIPC); err != nil {
		machine.Close()
		return err
	}
	t.addUndo(func() error {
		defer machine.Close()
		return setns(machine, unix.CLONE_NEWIPC)
	})
	for name, value := range sysctls {
		if err := setSysctl(name, value); err != nil {
			return startErrorf("set the kernel parameter %s to %q: %v", name, value, err)
		}
	}
	return nil
}

// setSysctl sets a parameter of the thread's ipc namespace. It refuses parameters of the whole machine.
func setSysctl(name, value string) error {
	if !runtime.IsIPCSysctl(name) {
		return errors.New("it is not a parameter of an ipc namespace")
	}
	f, err := os.OpenFile("/proc/sys/"+strings.ReplaceAll(name, ".", "/"), os.O_WRONLY, 0)
	if err != nil {
		return cause(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintln(f, value); err != nil {
		return cause(err)
	}
	return nil
}

// cause leaves out the path, which does not help the author of the manifest.
func cause(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
