package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
)

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func TestSubPath(t *testing.T) {
	m := mounter(t)
	volume, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "file"), "secret\n")
	write(t, filepath.Join(volume, "real", "file"), "own\n")
	if err := unix.Mkfifo(filepath.Join(volume, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	// Volumes of ConfigMaps and Secrets are made like this.
	write(t, filepath.Join(volume, "..2026", "key"), "value\n")
	link(t, "..2026", filepath.Join(volume, "..data"))
	link(t, "..data/key", filepath.Join(volume, "key"))
	link(t, "real", filepath.Join(volume, "in"))
	link(t, "../real/../in", filepath.Join(volume, "real", "around"))
	link(t, outside, filepath.Join(volume, "out"))
	link(t, filepath.Join(volume, "real"), filepath.Join(volume, "absolute"))
	link(t, "../"+filepath.Base(volume)+"/real", filepath.Join(volume, "back"))
	link(t, "nowhere", filepath.Join(volume, "dangling"))
	link(t, "circle", filepath.Join(volume, "circle"))
	const at = "/stint-test-sub"
	for name, c := range map[string]struct{ sub, script, want, fault string }{
		"a directory":                          {sub: "real", script: "cat " + at + "/file", want: "own\n"},
		"a link inside":                        {sub: "in", script: "cat " + at + "/file", want: "own\n"},
		"a link that goes about inside":        {sub: "in/around", script: "cat " + at + "/file", want: "own\n"},
		"a file":                               {sub: "real/file", script: "cat " + at, want: "own\n"},
		"a file behind the links of an object": {sub: "key", script: "cat " + at, want: "value\n"},
		"a FIFO":                               {sub: "fifo", script: "test -p " + at + " && echo yes", want: "yes\n"},
		"nothing yet":                          {sub: "fresh/deep", script: "test -d " + at + " && echo yes", want: "yes\n"},
		"a link out":                           {sub: "out", fault: `subPath "out" leads out of the volume`},
		"something behind a link out":          {sub: "out/file", fault: "leads out of the volume"},
		"something to be made behind a link":   {sub: "out/fresh", fault: "leads out of the volume"},
		"an absolute link":                     {sub: "absolute", fault: "leads out of the volume"},
		"a link out and in again":              {sub: "back", fault: "leads out of the volume"},
		"more than what was checked before":    {sub: "..", fault: "leads out of the volume"},
		"a link to nothing":                    {sub: "dangling", fault: "link to nothing"},
		"a circle":                             {sub: "circle", fault: "too many levels"},
		"something below a file":               {sub: "real/file/x", fault: "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			container := m.container("sh", "-c", c.script+" 2>&1")
			container.Mounts = []runtime.Mount{{HostPath: volume, SubPath: c.sub, ContainerPath: at}}
			s := m.run(container)
			if c.fault != "" {
				if !strings.Contains(s.StartError, c.fault) {
					t.Errorf("ended as %+v, want %q", s, c.fault)
				}
				return
			}
			if got := m.output(container); got != c.want {
				t.Errorf("ended as %+v: %q, want %q", s, got, c.want)
			}
		})
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 1 {
		t.Errorf("outside the volume there is %v (%v)", left, err)
	}
}

func TestAPartOfAMemoryVolume(t *testing.T) {
	m := mounter(t)
	memory := filepath.Join(t.TempDir(), "memory")
	one := m.container("sh", "-c", "echo shared > /mnt/file")
	one.Mounts = []runtime.Mount{{HostPath: memory, SubPath: "part", ContainerPath: "/mnt", Tmpfs: true}}
	two := one
	two.Container, two.Command = "second", []string{"sh", "-c", "cat /mnt/part/file; stat -f -c %T /mnt/part"}
	two.Mounts = []runtime.Mount{{HostPath: memory, ContainerPath: "/mnt", Tmpfs: true}}
	m.run(one)
	if s := m.run(two); m.output(two) != "shared\ntmpfs\n" {
		t.Errorf("ended as %+v: %q", s, m.output(two))
	}
}

// Mount points in a volume are made inside of it, also if the path has links.
func TestMountPointsInAVolume(t *testing.T) {
	m := mounter(t)
	volume, outside, inner := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, filepath.Join(inner, "file"), "inner\n")
	write(t, filepath.Join(volume, "real", "file"), "own\n")
	link(t, "real", filepath.Join(volume, "in"))
	link(t, outside, filepath.Join(volume, "out"))
	link(t, "../..", filepath.Join(volume, "up"))
	for point, fault := range map[string]string{
		"real":          "",
		"in/fresh":      "",
		"deep/er":       "",
		"out":           "leads out of the volume",
		"out/fresh":     "leads out of the volume",
		"up":            "leads out of the volume",
		"up/tmp/fresh":  "leads out of the volume",
		"real/file/sub": "not a directory",
	} {
		t.Run(point, func(t *testing.T) {
			c := m.container("cat", "/mnt/"+point+"/file")
			c.Mounts = []runtime.Mount{
				{HostPath: volume, ContainerPath: "/mnt"}, {HostPath: inner, ContainerPath: "/mnt/" + point},
			}
			s := m.run(c)
			if fault != "" && !strings.Contains(s.StartError, fault) || fault == "" && m.output(c) != "inner\n" {
				t.Errorf("ended as %+v: %q, want %q", s, m.output(c), fault)
			}
		})
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
		t.Errorf("outside the volume there is %v (%v)", left, err)
	}
	for _, made := range []string{"real/fresh", "deep/er"} {
		if info, err := os.Lstat(filepath.Join(volume, made)); err != nil || !info.IsDir() {
			t.Errorf("the mount point %s is not in the volume: %v", made, err)
		}
	}
}

func TestASubPathThatIsSwappedNeverShowsAnotherDirectory(t *testing.T) {
	m := mounter(t)
	a := newAttack(t)
	a.start(func() {})
	seen := map[string]int{}
	for i := range starts {
		c := m.container("cat", "/mnt/file")
		c.Container = fmt.Sprint("c", i)
		c.Mounts = []runtime.Mount{
			{HostPath: a.volume, SubPath: "sub", ContainerPath: "/mnt"},
			{HostPath: a.volume, SubPath: "sub/" + c.Container, ContainerPath: "/mnt/fresh"},
		}
		s := m.run(c)
		a.check()
		if strings.Contains(s.StartError, "leads out of the volume") {
			seen["refused"]++
			continue
		}
		if s.StartError != "" {
			t.Fatal(s.StartError)
		}
		if got := m.output(c); got != "own\n" {
			t.Fatalf("ended as %+v: %q", s, got)
		}
		seen["started"]++
	}
	t.Logf("%v", seen)
}
