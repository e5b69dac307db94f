package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhereThisProcessIsInACgroupTree(t *testing.T) {
	for name, test := range map[string]struct {
		line   string
		places map[string]string
		want   hierarchy
		ok     bool
	}{
		"version 2 alone": {
			"31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw",
			map[string]string{"": "/user.slice/run-1.scope"},
			hierarchy{v2: true, name: "cgroup", home: "/sys/fs/cgroup/user.slice/run-1.scope"}, true,
		},
		"version 2 beside version 1": {
			"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw",
			map[string]string{"": "/", "memory": "/x"},
			hierarchy{v2: true, name: "unified", home: "/sys/fs/cgroup/unified"}, true,
		},
		"a controller of version 1": {
			"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory",
			map[string]string{"": "/", "memory": "/a/b"},
			hierarchy{controllers: []string{"memory"}, name: "memory", home: "/sys/fs/cgroup/memory/a/b"}, true,
		},
		"two controllers in one tree": {
			"35 31 0:32 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct",
			map[string]string{"cpu": "/a", "cpuacct": "/a"},
			hierarchy{controllers: []string{"cpu", "cpuacct"}, name: "cpu,cpuacct", home: "/sys/fs/cgroup/cpu,cpuacct/a"}, true,
		},
		"a container that sees its own part only": {
			"35 31 0:32 /docker/123 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory",
			map[string]string{"memory": "/docker/123"},
			hierarchy{controllers: []string{"memory"}, name: "memory", home: "/sys/fs/cgroup/memory"}, true,
		},
		"a tree without controllers": {
			"40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd",
			map[string]string{"memory": "/"}, hierarchy{}, false,
		},
		"another file system": {"30 23 0:5 / /proc rw - proc proc rw", nil, hierarchy{}, false},
		"no line at all":      {"", nil, hierarchy{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := parseMount(test.line, test.places)
			if ok != test.ok {
				t.Errorf("found: %t", ok)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(hierarchy{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLimitsInTheKernelsUnits(t *testing.T) {
	type units struct{ quota, shares, weight int64 }
	for name, test := range map[string]struct {
		limits limits
		want   units
	}{
		"half a CPU":                        {limits{cpu: 500, cpuRequest: 500}, units{50_000, 512, 20}},
		"four CPUs":                         {limits{cpu: 4000, cpuRequest: 4000}, units{400_000, 4096, 157}},
		"next to nothing is a millisecond":  {limits{cpu: 1, cpuRequest: 1}, units{1000, 2, 1}},
		"more than there is":                {limits{cpu: 1_000_000, cpuRequest: 1_000_000}, units{100_000_000, 262144, 10000}},
		"no request weighs as anything new": {limits{cpu: 100}, units{10_000, 2, 100}},
	} {
		t.Run(name, func(t *testing.T) {
			got := units{test.limits.quota(), test.limits.shares(), test.limits.weight()}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(units{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The paths come from a journal, which is not trusted. The decoy is an ordinary directory that looks like a cgroup of
// either version.
func TestOnlyCgroupsOfTheSandboxAreSwept(t *testing.T) {
	decoy := filepath.Join(t.TempDir(), "box")
	if err := os.MkdirAll(filepath.Join(decoy, "leaf"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, planted := range []func() error{
		func() error { return nil },
		func() error { return os.WriteFile(filepath.Join(decoy, "cgroup.kill"), []byte("0"), 0o600) },
	} {
		if err := planted(); err != nil {
			t.Fatal(err)
		}
		Sweep("box", []string{decoy}, nil)
		if _, err := os.Stat(filepath.Join(decoy, "leaf")); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(decoy, "cgroup.kill")); err != nil || string(text) != "0" {
		t.Errorf("%q, %v", text, err)
	}
	if isCgroup("/sys/fs/cgroup", "another") {
		t.Error("a cgroup of another name would be swept")
	}
}

func TestAllContainersTogetherLeaveHalfOfTheMachine(t *testing.T) {
	for name, test := range map[string]struct{ container, machine, want int64 }{
		"half of what the machine has":      {4096, 32768, 16384},
		"one container may have all it may": {4096, 4000, 4096},
		"a smaller limit changes nothing":   {10, 32768, 16384},
		"none for one is none for all":      {-1, 32768, -1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := maxTogether(test.container, test.machine); got != test.want {
				t.Errorf("%d", got)
			}
		})
	}
}
