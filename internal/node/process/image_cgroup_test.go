package process_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/unprivileged"
)

// needLegacyCgroups skips the test if limits are not enforced by cgroups of version 1.
func needLegacyCgroups(t *testing.T, m *machine) {
	t.Helper()
	if info := m.Info(); !info.EnforcesMemory || !info.EnforcesCPU || info.Isolation == "cgroup v2" {
		t.Skip("no limits by cgroups of version 1 here: " + info.Isolation)
	}
}

func (m *machine) limitedContainer(tree, script string) runtime.Container {
	c := m.imageContainer(tree, "sh", "-c", script)
	c.MemoryLimitBytes, c.CPUMilliLimit, c.CPUMilliRequest = 64<<20, 500, 250
	return c
}

func TestAnImageSeesItsCgroupsOfVersion1(t *testing.T) {
	m := imager(t)
	needLegacyCgroups(t, m)
	tree := imageTree(t)
	const limits = `cd /sys/fs/cgroup; cat memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us cpu/cpu.shares; `
	for name, test := range map[string]struct {
		change       func(*runtime.Container)
		script, want string
	}{
		"its limits":      {nil, limits, "67108864\n50000\n100000\n256\n"},
		"as another user": {func(c *runtime.Container) { c.User = &runtime.User{UID: 1000, GID: 1000} }, limits, "67108864\n50000\n100000\n256\n"},
		"itself":          {nil, "grep -c '^1$' /sys/fs/cgroup/memory/tasks /sys/fs/cgroup/cpu/tasks", "/sys/fs/cgroup/memory/tasks:1\n/sys/fs/cgroup/cpu/tasks:1\n"},
		"no other cgroup": {nil, "find /sys/fs/cgroup/*/ -mindepth 1 -type d", ""},
		"the places that programs are told": {nil, `awk -F: '$2 ~ /(^|,)(memory|cpu|cpuacct|cpuset)(,|$)/ && $3 != "/"' /proc/self/cgroup
			awk '/ - cgroup / {root[$5] = $4} END {for (at in root) if (root[at] != "/") print at, root[at]}' /proc/self/mountinfo`, ""},
		"all that a JVM asks for": {
			func(c *runtime.Container) { c.CPUMilliLimit = 0 },
			`for c in memory cpu cpuacct cpuset; do grep -qE " /sys/fs/cgroup/[a-z,]* .* - cgroup [^ ]* .*[ ,]$c(,|$)" /proc/self/mountinfo || echo no $c; done
			cd /sys/fs/cgroup; cat memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us cpu/cpu.shares`, "67108864\n-1\n256\n",
		},
		"nothing to write to": {nil, `cd /sys/fs/cgroup
			for f in memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us memory/tasks x; do echo 1 2>/dev/null > $f && echo wrote $f; done
			mkdir memory/x 2>/dev/null && echo made; mount -o remount,rw memory 2>/dev/null && echo remounted; true`, ""},
		"what a volume has instead": {
			func(c *runtime.Container) {
				c.Mounts = []runtime.Mount{{HostPath: linksTo(t, "/home"), ContainerPath: "/sys"}}
			}, "ls /home; readlink /sys/fs/cgroup", "/home\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m.t = t
			c := m.limitedContainer(tree, test.script)
			if test.change != nil {
				test.change(&c)
			}
			if s := m.run(c); m.outputIfAny(c) != test.want {
				t.Errorf("printed %q, want %q; %s", m.outputIfAny(c), test.want, s.StartError)
			}
		})
	}
	m.t = t
}

// linksTo makes a volume for /sys that has a link to target instead of the directory of the cgroups.
func linksTo(t *testing.T, target string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "fs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(dir, "fs/cgroup")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAPrivilegedImageWritesToItsCgroupsOfVersion1(t *testing.T) {
	m := imager(t)
	needLegacyCgroups(t, m)
	c := m.limitedContainer(imageTree(t), "cd /sys/fs/cgroup; mkdir memory/own && rmdir memory/own && echo 1000000 > memory/memory.soft_limit_in_bytes && echo wrote")
	c.Root.Privileged, c.Root.Unmasked, c.Root.Capabilities = true, true, 1<<41-1
	if got := m.printed(c); got != "wrote\n" {
		t.Errorf("printed %q", got)
	}
}

func TestAnImageWithoutLimitsHasNoCgroupsOfVersion1(t *testing.T) {
	m := imager(t)
	needLegacyCgroups(t, m)
	if m.Info().ImageIDs != 0 {
		t.Skip("without root a container sees all that is mounted in the machine's /sys")
	}
	c := m.imageContainer(imageTree(t), "sh", "-c", "grep ' - cgroup ' /proc/self/mountinfo; ls /sys/fs/cgroup")
	if got := m.printed(c); got != "" {
		t.Errorf("it sees %s", got)
	}
}

func TestImagesOfAUserWithCgroupsOfVersion1(t *testing.T) {
	unprivileged.WithCgroups(t, "CgroupsOfVersion1$")
}
