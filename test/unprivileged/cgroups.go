package unprivileged

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stint-dev/stint/test/await"
)

// WithCgroups runs tests as a user who owns cgroups of version 1.
func WithCgroups(t *testing.T, pattern string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can hand cgroups to another user")
	}
	var prepare strings.Builder
	for _, home := range dividedHomes(t, "memory", "cpu", "cpuacct", "cpuset") {
		fmt.Fprintf(&prepare, "echo $$ > %s/tasks; ", handCgroup(t, home))
	}
	if prepare.Len() == 0 {
		t.Skip("there are no cgroups of version 1 here")
	}
	again(t, pattern, prepare.String())
}

// dividedHomes are the cgroups of this process in the trees of these controllers.
func dividedHomes(t *testing.T, controllers ...string) []string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	var homes []string
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		of := strings.Split(fields[1], ",")
		home := filepath.Join("/sys/fs/cgroup", fields[1], fields[2])
		if _, err := os.Stat(filepath.Join(home, "tasks")); err == nil && slices.ContainsFunc(controllers, func(c string) bool { return slices.Contains(of, c) }) {
			homes = append(homes, home)
		}
	}
	return homes
}

// handCgroup makes a cgroup below home that the user owns.
func handCgroup(t *testing.T, home string) string {
	t.Helper()
	dir, err := os.MkdirTemp(home, "stint-unprivileged-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		await.Until(t, "the cgroup is empty", func() bool { return os.Remove(dir) == nil })
	})
	for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
		text, err := os.ReadFile(filepath.Join(home, name))
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, user, user)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
