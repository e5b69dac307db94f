package process_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// mounter starts a machine, and skips the test if it cannot mount.
func mounter(t *testing.T) *machine {
	m := start(t)
	if !m.Info().CanMount {
		t.Skip("volumes cannot be mounted here: " + m.Info().WhyNoMount)
	}
	return m
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestVolumes(t *testing.T) {
	m := mounter(t)
	src := t.TempDir()
	write(t, filepath.Join(src, "volume", "file"), "content\n")
	write(t, filepath.Join(src, "other", "more"), "more\n")
	there := t.TempDir()
	write(t, filepath.Join(there, "beside"), "beside\n")
	if err := os.Symlink("beside", filepath.Join(there, "link")); err != nil {
		t.Fatal(err)
	}
	volume, other := filepath.Join(src, "volume"), filepath.Join(src, "other")

	for name, test := range map[string]struct {
		mounts []runtime.Mount
		script string
		want   string
	}{
		"a directory over one that exists": {
			[]runtime.Mount{{HostPath: volume, ContainerPath: "/mnt"}}, "cat /mnt/file", "content\n",
		},
		"a directory at a place that does not exist": {
			[]runtime.Mount{{HostPath: volume, ContainerPath: there + "/new/deep"}},
			"cd " + there + "; cat new/deep/file beside link", "content\nbeside\nbeside\n",
		},
		"a directory right below the root": {
			[]runtime.Mount{{HostPath: volume, ContainerPath: "/stint-test-data"}},
			"cat /stint-test-data/file; cat " + there + "/beside; echo x > /dev/null; test -e /proc/self/status && echo ok",
			"content\nbeside\nok\n",
		},
		"a file at a place that does not exist": {
			[]runtime.Mount{{HostPath: volume + "/file", ContainerPath: there + "/conf/app.conf"}},
			"cat " + there + "/conf/app.conf", "content\n",
		},
		"a volume in a volume": {
			[]runtime.Mount{
				{HostPath: other, ContainerPath: "/mnt/inner/one"},
				{HostPath: volume, ContainerPath: "/mnt"},
			},
			"cat /mnt/file /mnt/inner/one/more", "content\nmore\n",
		},
		"a volume in a read-only volume": {
			[]runtime.Mount{
				{HostPath: volume, ContainerPath: "/mnt", ReadOnly: true},
				{HostPath: other, ContainerPath: "/mnt/fresh"},
			},
			"cat /mnt/file /mnt/fresh/more", "content\nmore\n",
		},
		"a volume that hides the source of another": {
			[]runtime.Mount{
				{HostPath: other, ContainerPath: src},
				{HostPath: volume, ContainerPath: "/mnt"},
			},
			"cat /mnt/file " + src + "/more", "content\nmore\n",
		},
		"a read-only volume cannot be written": {
			[]runtime.Mount{{HostPath: volume, ContainerPath: "/mnt", ReadOnly: true}},
			"cat /mnt/file; (echo x > /mnt/file) 2>/dev/null || echo refused", "content\nrefused\n",
		},
		"memory": {
			[]runtime.Mount{{HostPath: src + "/memory", ContainerPath: "/mnt", Tmpfs: true, SizeBytes: 1 << 20}},
			"stat -f -c %T /mnt; head -c 2000000 /dev/zero 2>/dev/null > /mnt/big || stat -c %s /mnt/big",
			"tmpfs\n1048576\n",
		},
		"the machine's own path": {
			[]runtime.Mount{{HostPath: volume, ContainerPath: volume}}, "cat " + volume + "/file", "content\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := m.container("sh", "-c", test.script+" 2>&1")
			c.Mounts = test.mounts
			c.TerminationMessagePath = "/dev/termination-log"
			s := m.run(c)
			if s.StartError != "" {
				t.Fatal(s.StartError)
			}
			if diff := cmp.Diff(test.want, m.output(c)); diff != "" {
				t.Errorf("ended as %+v: %s", s, diff)
			}
		})
	}
	left, err := os.ReadDir(there)
	if err != nil || len(left) != 2 {
		t.Errorf("the machine's directory now has %v (%v)", left, err)
	}
	if _, err := os.Stat("/stint-test-data"); err == nil {
		t.Error("a mount point was made on the machine")
	}
}

func TestAVolumeIsWrittenOnTheMachine(t *testing.T) {
	m := mounter(t)
	volume, beside := t.TempDir(), t.TempDir()
	c := m.container("sh", "-c", "echo a > /stint-test-out/a; echo b > "+beside+"/b")
	c.Mounts = []runtime.Mount{{HostPath: volume, ContainerPath: "/stint-test-out"}}
	if s := m.run(c); s.ExitCode != 0 {
		t.Fatalf("ended as %+v: %s", s, m.output(c))
	}
	for path, want := range map[string]string{filepath.Join(volume, "a"): "a\n", filepath.Join(beside, "b"): "b\n"} {
		if data, err := os.ReadFile(path); err != nil || string(data) != want {
			t.Errorf("%s holds %q (%v)", path, data, err)
		}
	}
}

func TestContainersOfAPodShareItsMemoryVolume(t *testing.T) {
	m := mounter(t)
	memory := filepath.Join(t.TempDir(), "memory")
	one := m.container("sh", "-c", "echo shared > /mnt/file")
	one.Mounts = []runtime.Mount{{HostPath: memory, ContainerPath: "/mnt", Tmpfs: true}}
	two := one
	two.Container, two.Command = "second", []string{"cat", "/mnt/file"}
	m.run(one)
	if s := m.run(two); m.output(two) != "shared\n" {
		t.Errorf("ended as %+v", s)
	}
	if err := m.RemovePod(t.Context(), one.PodUID, ""); err != nil {
		t.Fatal(err)
	}
	three := two
	three.Container = "third"
	if s := m.run(three); s.ExitCode == 0 {
		t.Error("the memory volume has outlived its pod")
	}
	if left, err := os.ReadDir(memory); err != nil || len(left) != 0 {
		t.Errorf("on the machine there is %v (%v)", left, err)
	}
}

func TestTerminationMessagePathOfTheContainersOwn(t *testing.T) {
	m := mounter(t)
	c := m.container("sh", "-c", "echo mine > /var/run/stint-test/message")
	c.TerminationMessagePath = "/var/run/stint-test/message"
	if s := m.run(c); s.TerminationMessage != "mine\n" {
		t.Errorf("ended as %+v", s)
	}
	long := m.container("sh", "-c", "head -c 10000 /dev/zero | tr '\\0' x > /dev/termination-log")
	long.TerminationMessagePath = "/dev/termination-log"
	if s := m.run(long); s.TerminationMessage != strings.Repeat("x", 4096) {
		t.Errorf("a message of %d bytes", len(s.TerminationMessage))
	}
}

func TestMountFaults(t *testing.T) {
	m := mounter(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "")
	if err := os.Symlink("nowhere", filepath.Join(dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		mount runtime.Mount
		want  string
	}{
		"a source that does not exist": {runtime.Mount{HostPath: dir + "/absent", ContainerPath: "/mnt"}, "volume source"},
		"a directory over a file":      {runtime.Mount{HostPath: dir, ContainerPath: dir + "/file"}, "directory"},
		"a file over a directory":      {runtime.Mount{HostPath: dir + "/file", ContainerPath: "/mnt"}, "directory"},
		"a place below a file":         {runtime.Mount{HostPath: dir, ContainerPath: dir + "/file/below"}, "not a directory"},
		"a link to nothing":            {runtime.Mount{HostPath: dir, ContainerPath: dir + "/dangling"}, "link to nothing"},
		"a relative path":              {runtime.Mount{HostPath: dir, ContainerPath: "mnt"}, "must be absolute"},
	} {
		t.Run(name, func(t *testing.T) {
			c := m.container("true")
			c.Mounts = []runtime.Mount{test.mount}
			if s := m.start(c); !strings.Contains(s.StartError, test.want) || s.ExitCode != 128 {
				t.Errorf("status %+v, want a start error with %q", s, test.want)
			}
			if s := m.run(m.container("true")); s.ExitCode != 0 {
				t.Errorf("the next container suffers: %+v", s)
			}
		})
	}
}

func TestMountsDoNotShowOnTheMachine(t *testing.T) {
	before, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	m := mounter(t)
	c := m.container("sleep", "1000")
	c.Mounts = []runtime.Mount{
		{HostPath: t.TempDir(), ContainerPath: "/stint-test"},
		{HostPath: filepath.Join(t.TempDir(), "memory"), ContainerPath: "/stint-test/memory", Tmpfs: true},
	}
	m.start(c)
	after, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Error(diff)
	}
}

// Files that a container wrote beside a mount point that the machine lacks would be lost without an error.
func TestADirectoryThatLacksAMountPointIsReadOnly(t *testing.T) {
	m := mounter(t)
	volume, out := t.TempDir(), t.TempDir()
	write(t, filepath.Join(volume, "file"), "content\n")
	write(t, filepath.Join(out, "beside", "file"), "beside\n")
	c := m.container("sh", "-c", "exec 2>&1; cat config/deep/file; echo x > beside/more; echo x > file && echo x > config/deep/more; "+
		"echo x > result.csv || mkdir config/other || echo x > config.yaml")
	c.WorkingDir = out
	write(t, filepath.Join(out, "file"), "")
	c.Mounts = []runtime.Mount{
		{HostPath: volume, ContainerPath: out + "/config/deep"},
		{HostPath: volume + "/file", ContainerPath: out + "/app.conf"},
		{HostPath: volume, ContainerPath: "/mnt"},
	}
	s := m.run(c)
	if s.ExitCode == 0 || strings.Count(m.output(c), "Read-only file system") != 3 || !strings.HasPrefix(m.output(c), "content\n") {
		t.Errorf("ended as %+v: %s", s, m.output(c))
	}
	for _, path := range []string{filepath.Join(out, "beside", "more"), filepath.Join(out, "file"), filepath.Join(volume, "more")} {
		if data, err := os.ReadFile(path); err != nil || string(data) != "x\n" {
			t.Errorf("%s holds %q (%v)", path, data, err)
		}
	}
	want := []runtime.MissingMountPoint{
		{Path: out + "/app.conf", Dir: out, IsFile: true}, {Path: out + "/config/deep", Dir: out},
	}
	if diff := cmp.Diff(want, s.MissingMountPoints); diff != "" {
		t.Error(diff)
	}
}

// The root directory is read-only, but the directories in it are the machine's and can be written to.
func TestARootDirectoryThatLacksAMountPointIsReadOnly(t *testing.T) {
	m := mounter(t)
	c := m.container("sh", "-c", "exec 2>&1; echo x > /result.csv; echo x > /dev/null && f=$(mktemp) && rm $f && echo temporary")
	c.Mounts = []runtime.Mount{{HostPath: t.TempDir(), ContainerPath: "/stint-test-data"}}
	s := m.run(c)
	if got := m.output(c); !strings.HasSuffix(got, "\ntemporary\n") || os.Geteuid() == 0 && !strings.Contains(got, "Read-only file system") {
		t.Errorf("ended as %+v: %s", s, got)
	}
	want := []runtime.MissingMountPoint{{Path: "/stint-test-data", Dir: "/"}}
	if os.Geteuid() != 0 {
		want = nil // this user cannot write there anyway
	}
	if diff := cmp.Diff(want, s.MissingMountPoints); diff != "" {
		t.Error(diff)
	}
}

// All containers share one /dev, which is not the machine's.
func TestNothingIsMadeInDev(t *testing.T) {
	m := mounter(t)
	if _, err := os.Lstat("/dev/termination-log"); err == nil {
		t.Skip("containers have this machine's own /dev, which has a termination message file")
	}
	c := m.container("sh", "-c", "exec 2>&1; echo x > /dev/stint-test; echo message > /dev/termination-log; echo x > /dev/null; echo x > /dev/shm/stint-test-$$ && rm /dev/shm/stint-test-$$ && echo ok")
	c.TerminationMessagePath = "/dev/termination-log"
	s := m.run(c)
	got := m.output(c)
	if !strings.HasSuffix(got, "\nok\n") || strings.Count(got, "stint-test") != 1 || s.TerminationMessage != "message\n" {
		t.Errorf("ended as %+v: %s", s, got)
	}
}

func TestNoVolumeTakesThePlaceOfTheRootDirectory(t *testing.T) {
	m := mounter(t)
	c := m.container("true")
	c.Mounts = []runtime.Mount{{HostPath: t.TempDir(), ContainerPath: "/"}}
	if s := m.start(c); !strings.Contains(s.StartError, "root directory") {
		t.Errorf("status %+v", s)
	}
}
