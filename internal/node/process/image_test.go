package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/image/layer"
	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/process/seccomp"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/images"
)

// imageTree unpacks an image with busybox and returns its tree.
func imageTree(t testing.TB) string {
	t.Helper()
	files := map[string]images.File{
		"etc/os-release": {Content: "NAME=test\n", Mode: 0o644}, "home": {Mode: 0o755},
		"etc/passwd": {Content: "nobody:x:65534:65534::/:/bin/sh\n", Mode: 0o644}, "etc/group": {Content: "nogroup:x:65534:\n", Mode: 0o644},
	}
	var layers []*os.File
	for i, l := range []v1.Layer{images.Busybox(t), images.Layer(t, files)} {
		dir := openNew(t, fmt.Sprint("layer", i))
		content, err := l.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		if err := layer.Unpack(content, dir, layer.Options{}); err != nil {
			t.Fatal(err)
		}
		layers = append(layers, dir)
	}
	tree := openNew(t, "tree")
	if err := layer.Merge(tree, layers); err != nil {
		t.Fatal(err)
	}
	return tree.Name()
}

// openNew makes and opens a directory for the test.
func openNew(t testing.TB, name string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

// imager starts a machine, and skips the test if it cannot run images.
func imager(t testing.TB, change ...func(*process.Config)) *machine {
	t.Helper()
	m := start(t, change...)
	if !m.Info().CanRunImages {
		t.Skip("images cannot be run here: " + m.Info().WhyNoImages)
	}
	return m
}

// defaultCapabilities are containerd's.
const defaultCapabilities = 1<<0 | 1<<1 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<10 | 1<<13 | 1<<18 | 1<<29 | 1<<31

func (m *machine) imageContainer(tree string, command ...string) runtime.Container {
	c := m.container(command...)
	c.Root = &runtime.Root{Tree: tree, Capabilities: defaultCapabilities}
	c.TerminationMessagePath = "/dev/termination-log"
	c.Hostname = "worker"
	return c
}

// printed runs a container of the image and returns what it has printed.
func (m *machine) printed(c runtime.Container) string {
	m.t.Helper()
	if s := m.run(c); s.ExitCode != 0 {
		m.t.Fatalf("%q ended with %d %s: %s", c.Command, s.ExitCode, s.StartError, m.outputIfAny(c))
	}
	return m.outputIfAny(c)
}

func (m *machine) outputIfAny(c runtime.Container) string {
	if _, err := os.Stat(c.LogPath); err != nil {
		return ""
	}
	return m.output(c)
}

func TestAContainerSeesItsImage(t *testing.T) {
	m := imager(t)
	tree := imageTree(t)
	for name, test := range map[string]struct {
		change func(*runtime.Container)
		script string
		want   string
	}{
		"its files":            {nil, "cat /etc/os-release; ls /", "NAME=test\nbin\ndev\netc\nhome\nproc\nsys\ntmp\n"},
		"its name":             {nil, "hostname", "worker\n"},
		"itself as process 1":  {nil, "echo $$; cat /proc/1/comm; ls -d /proc/[0-9]* | wc -l | grep -q '^[1-4]$' && echo alone", "1\nsh\nalone\n"},
		"root by default":      {nil, "id -u; id -g; id -G", "0\n0\n0\n"},
		"no other environment": {func(c *runtime.Container) { c.Env = []string{"A=1"} }, "env | sort | grep -v -e SHLVL -e PWD", "A=1\nHOSTNAME=worker\nPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"},
		"its user": {
			func(c *runtime.Container) { c.User = &runtime.User{UID: 1000, GID: 2000} },
			"id -u; id -g; touch /proc/1/comm && echo own", "1000\n2000\nown\n",
		},
		"a working directory that is made": {func(c *runtime.Container) { c.WorkingDir = "/work/deep" }, "pwd", "/work/deep\n"},
		"files of its own": {
			func(c *runtime.Container) { c.Root.Files = map[string]string{"/etc/hosts": "127.0.0.1 me\n"} },
			"cat /etc/hosts; echo more >> /etc/hosts; tail -n 1 /etc/hosts; ls -A /dev | grep file || true", "127.0.0.1 me\nmore\n",
		},
		"devices that work": {nil, "head -c 3 /dev/zero | od -An -tx1; echo x > /dev/null; head -c 1 /dev/urandom | wc -c; echo y > /dev/shm/f && cat /dev/shm/f; ls /dev/pts", " 00 00 00\n1\ny\nptmx\n"},
		"a root that cannot be written": {
			func(c *runtime.Container) { c.Root.ReadOnly = true },
			"touch /f /tmp/f 2>/dev/null || echo refused; echo ok > /dev/shm/f; cat /dev/shm/f", "refused\nok\n",
		},
		"what hides the machine": {nil, "wc -c < /proc/keys; touch /proc/sys/kernel/hostname 2>/dev/null || echo no; touch /sys/x 2>/dev/null || echo no; ls /sys/firmware", "0\nno\nno\n"},
	} {
		t.Run(name, func(t *testing.T) {
			m.t = t
			c := m.imageContainer(tree, "sh", "-c", test.script)
			if test.change != nil {
				test.change(&c)
			}
			if m.run(c); m.outputIfAny(c) != test.want {
				t.Errorf("printed %q, want %q", m.outputIfAny(c), test.want)
			}
		})
	}
	m.t = t
}

// Without subordinate ids a container has a single id, but that may be any number.
func TestUsersInAnImage(t *testing.T) {
	m := imager(t)
	tree := imageTree(t)
	c := m.imageContainer(tree, "sh", "-c", "id -G; touch /home/x 2>/dev/null || echo denied; stat -c %u:%g /dev/termination-log; echo message > /dev/termination-log")
	c.User = &runtime.User{UID: 1000, GID: 2000, Groups: []uint32{3000}}
	s := m.run(c)
	if m.Info().ImageIDs == 1 {
		if !strings.Contains(s.StartError, "the container cannot have the groups [3000]: ") || !strings.Contains(s.StartError, "usermod --add-subuids") {
			t.Errorf("could not start because of %q", s.StartError)
		}
	} else if got, want := m.outputIfAny(c), "2000 3000\ndenied\n1000:2000\n"; got != want || s.TerminationMessage != "message\n" {
		t.Errorf("printed %q, want %q; its message is %q", got, want, s.TerminationMessage)
	}
	c = m.imageContainer(tree, "sh", "-c", "chown 5 /tmp && chgrp 6 /home && su -s /bin/sh nobody -c 'id -u'")
	switch s := m.run(c); {
	case m.Info().ImageIDs == 1 && s.ExitCode == 0:
		t.Error("files are given to users that this user does not have")
	case m.Info().ImageIDs != 1 && m.outputIfAny(c) != "65534\n":
		t.Errorf("ended with %d: %s", s.ExitCode, m.outputIfAny(c))
	}
}

func TestRightsInAnImage(t *testing.T) {
	m := imager(t)
	tree := imageTree(t)
	status := func(change func(*runtime.Container)) string {
		c := m.imageContainer(tree, "grep", "-E", "^(CapEff|CapBnd|NoNewPrivs|Seccomp):", "/proc/self/status")
		change(&c)
		return strings.ReplaceAll(m.printed(c), "\t", " ")
	}
	const none = "0000000000000000"
	for name, test := range map[string]struct {
		change func(*runtime.Container)
		want   string
	}{
		"as containerd gives them": {func(*runtime.Container) {}, "CapEff: 00000000a00425fb\nCapBnd: 00000000a00425fb\nNoNewPrivs: 0\nSeccomp: 0\n"},
		"none":                     {func(c *runtime.Container) { c.Root.Capabilities = 0 }, "CapEff: " + none + "\nCapBnd: " + none + "\nNoNewPrivs: 0\nSeccomp: 0\n"},
		"of a user":                {func(c *runtime.Container) { c.User = &runtime.User{UID: 5} }, "CapEff: " + none + "\nCapBnd: 00000000a00425fb\nNoNewPrivs: 0\nSeccomp: 0\n"},
		"none to gain":             {func(c *runtime.Container) { c.NoNewPrivileges = true }, "CapEff: 00000000a00425fb\nCapBnd: 00000000a00425fb\nNoNewPrivs: 1\nSeccomp: 0\n"},
		"filtered":                 {func(c *runtime.Container) { c.Root.Seccomp = denyMkdir(t) }, "CapEff: 00000000a00425fb\nCapBnd: 00000000a00425fb\nNoNewPrivs: 0\nSeccomp: 2\n"},
		"filtered, none to gain": {
			func(c *runtime.Container) {
				c.Root.Seccomp, c.NoNewPrivileges, c.User = denyMkdir(t), true, &runtime.User{UID: 5}
			},
			"CapEff: " + none + "\nCapBnd: 00000000a00425fb\nNoNewPrivs: 1\nSeccomp: 2\n",
		},
	} {
		if got := status(test.change); got != test.want {
			t.Errorf("%s:\n%swant\n%s", name, got, test.want)
		}
	}
	c := m.imageContainer(tree, "sh", "-c", "mkdir /tmp/d 2>/dev/null || echo denied")
	c.Root.Seccomp = denyMkdir(t)
	if got := m.printed(c); got != "denied\n" {
		t.Errorf("under the filter mkdir printed %q", got)
	}
}

// denyMkdir is a filter that allows everything except making directories.
func denyMkdir(t *testing.T) []runtime.Instruction {
	profile, err := seccomp.Parse([]byte(`{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
		{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	host, err := seccomp.ThisHost()
	if err != nil {
		t.Fatal(err)
	}
	program, err := profile.Compile(nil, host)
	if err != nil {
		t.Fatal(err)
	}
	var all []runtime.Instruction
	for _, i := range program {
		all = append(all, runtime.Instruction{Code: i.Code, Jt: i.Jt, Jf: i.Jf, K: i.K})
	}
	return all
}

// What one container has written is neither in the image nor in the next container, which may get the same overlay.
func TestContainersOfAnImageShareNothing(t *testing.T) {
	m := imager(t)
	tree := imageTree(t)
	const look = "ls /tmp /home /dev/shm; cat /etc/os-release; stat -c %a /"
	want := m.printed(m.imageContainer(tree, "sh", "-c", look))
	for _, change := range []string{
		"touch /tmp/f", "rm /etc/os-release", "echo x >> /etc/os-release", "chmod 700 /", "mkdir /home/d && rmdir /home/d", "touch /dev/shm/f",
		"true", "mv /etc /config", "mkdir /x && rmdir /x",
	} {
		m.printed(m.imageContainer(tree, "sh", "-c", change))
		if got := m.printed(m.imageContainer(tree, "sh", "-c", look)); got != want {
			t.Errorf("after %q the next container prints %q, want %q", change, got, want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(tree, "etc/os-release")); err != nil || string(text) != "NAME=test\n" {
		t.Errorf("the image was written to: %q, %v", text, err)
	}
}

func TestVolumesInAnImage(t *testing.T) {
	m := imager(t)
	tree := imageTree(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "victim"), "secret")
	for link, target := range map[string]string{"out": outside, "up": "../../../../../.." + outside, "etc/link": "/home"} {
		if err := os.Symlink(target, filepath.Join(tree, link)); err != nil {
			t.Fatal(err)
		}
	}
	volume := t.TempDir()
	write(t, filepath.Join(volume, "file"), "content\n")
	for name, test := range map[string]struct {
		mount runtime.Mount
		want  string
		fails string
	}{
		"over a directory":          {runtime.Mount{ContainerPath: "/home"}, "content\n", ""},
		"where there is none":       {runtime.Mount{ContainerPath: "/a/b/c"}, "content\n", ""},
		"a file":                    {runtime.Mount{ContainerPath: "/etc/os-release", HostPath: volume + "/file"}, "content\n", ""},
		"in /dev":                   {runtime.Mount{ContainerPath: "/dev/extra"}, "content\n", ""},
		"through a link":            {runtime.Mount{ContainerPath: "/etc/link"}, "content\n", ""},
		"below a link to outside":   {runtime.Mount{ContainerPath: "/out/new"}, "", "link to nothing"},
		"below a link that goes up": {runtime.Mount{ContainerPath: "/up/new"}, "", "link to nothing"},
		"in place of the root":      {runtime.Mount{ContainerPath: "/"}, "", "root directory"},
		"in /sys":                   {runtime.Mount{ContainerPath: "/sys/new"}, "", "read-only"},
	} {
		mount := test.mount
		if mount.HostPath == "" {
			mount.HostPath = volume
		}
		at := filepath.Join(mount.ContainerPath, "file")
		if mount.HostPath != volume {
			at = mount.ContainerPath
		}
		c := m.imageContainer(tree, "cat", at)
		c.Mounts = []runtime.Mount{mount}
		s := m.run(c)
		if got := m.outputIfAny(c); got != test.want || !strings.Contains(s.StartError, test.fails) || (s.StartError == "") != (test.fails == "") {
			t.Errorf("%s: printed %q, could not start because of %q", name, got, s.StartError)
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside there are now %v, %v", entries, err)
	}
}

// An image may have links at paths where the runtime mounts or writes. Many runtimes had vulnerabilities of this kind.
func TestAnImageLeadsNoMountOutside(t *testing.T) {
	m := imager(t)
	outside := t.TempDir()
	for _, path := range []string{"dev", "proc", "sys", "etc", "etc/hosts", "work"} {
		tree := imageTree(t)
		at := filepath.Join(tree, path)
		if err := os.RemoveAll(at); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, at); err != nil {
			t.Fatal(err)
		}
		c := m.imageContainer(tree, "true")
		c.Root.Files = map[string]string{"/etc/hosts": "x"}
		c.WorkingDir = "/work/here"
		if s := m.run(c); s.StartError == "" {
			t.Errorf("an image whose /%s is a link to outside was started", path)
		}
		if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
			t.Errorf("/%s: outside there are now %v, %v", path, entries, err)
		}
	}
}

func TestImagesThatCannotStart(t *testing.T) {
	m := imager(t)
	tree := imageTree(t)
	write(t, filepath.Join(tree, "bin/script"), "#!/no/interpreter\n")
	write(t, filepath.Join(tree, "bin/plain"), "no program\n")
	for _, name := range []string{"bin/script", "bin/plain"} {
		if err := os.Chmod(filepath.Join(tree, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string]string{
		"nothing":    `cannot run "nothing": there is no such program in PATH`,
		"/nothing":   `cannot run "/nothing": no such file in the image`,
		"./nothing":  `cannot run "./nothing": there is no /nothing in the image; the container starts in /: `,
		"/etc":       `cannot run "/etc": it is a directory`,
		"script":     `cannot run "script": the image lacks the interpreter`,
		"plain":      `cannot run "plain": exec format error`,
		"os-release": `cannot run "os-release": /etc/os-release: it is not executable`,
	} {
		c := m.imageContainer(tree, command)
		c.Env = []string{"PATH=/bin:/etc"}
		if s := m.run(c); !strings.HasPrefix(s.StartError, want) || s.ExitCode != 128 {
			t.Errorf("%s: %d, %s", command, s.ExitCode, s.StartError)
		}
	}
}

func TestAStopSignalReachesProcess1(t *testing.T) {
	m := imager(t)
	tree := imageTree(t)
	c := m.imageContainer(tree, "sh", "-c", "trap 'echo usr1; exit 7' USR1; echo ready; while :; do sleep 0.05; done")
	c.StopSignal = int32(unix.SIGUSR1)
	m.start(c)
	await.Until(t, "the trap is set", func() bool { return strings.Contains(m.outputIfAny(c), "ready") })
	if err := m.Stop(await.Context(t), c.ID, await.Limit); err != nil {
		t.Fatal(err)
	}
	if s := m.wait(c.ID); s.ExitCode != 7 || !strings.Contains(m.output(c), "usr1") {
		t.Errorf("ended with %d: %s", s.ExitCode, m.output(c))
	}
}

func TestAllOfAnImagesProcessesEnd(t *testing.T) {
	m := imager(t)
	tree := imageTree(t)
	for i, script := range []string{"setsid sleep FOREVER & exit 0", "(setsid sleep FOREVER &); exec sleep FOREVER"} {
		word := fmt.Sprint(98760000 + i)
		c := m.imageContainer(tree, "sh", "-c", strings.ReplaceAll(script, "FOREVER", word))
		m.start(c)
		if err := m.Stop(await.Context(t), c.ID, 0); err != nil {
			t.Fatal(err)
		}
		m.wait(c.ID)
		if n := alive(t, word); n != 0 {
			t.Errorf("%q: %d processes are left", script, n)
		}
	}
}

// Containers end with their host, and the next host can run images as well.
func TestImagesAfterTheHostIsKilled(t *testing.T) {
	m := imager(t)
	tree := imageTree(t)
	c := m.imageContainer(tree, "sh", "-c", "touch /tmp/f; echo ready; exec sleep 98765432")
	m.start(c)
	await.Until(t, "the container runs", func() bool { return strings.Contains(m.outputIfAny(c), "ready") })
	if err := syscall.Kill(m.hostPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if s := m.wait(c.ID); !s.Lost {
		t.Errorf("it ended as %+v", s)
	}
	await.Until(t, "its processes end", func() bool { return alive(t, "98765432") == 0 })
	if got := m.printed(m.imageContainer(tree, "ls", "/tmp")); got != "" {
		t.Errorf("the next container finds %q", got)
	}
	await.Until(t, "no overlay of the former host is left", func() bool {
		roots, err := os.ReadDir(filepath.Join(m.dir, "data", "roots"))
		return err == nil && len(roots) <= 1
	})
}

func TestAnImageThatIsRemovedIsNotStarted(t *testing.T) {
	m := imager(t)
	tree := imageTree(t)
	id := m.sleeper(m.imageContainer(tree))
	// Removing an image takes an exclusive lock, which is not possible while there is an overlay.
	dir, err := os.Open(tree)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != unix.EWOULDBLOCK {
		t.Errorf("the tree of a container could be locked: %v", err)
	}
	m.end(id)
	await.Until(t, "the overlay is dropped", func() bool { return unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil })
	if _, err := m.Start(await.Context(t), m.imageContainer(tree, "true")); err == nil || !strings.Contains(err.Error(), "being removed") {
		t.Errorf("Start() = %v", err)
	}
}

func TestPrivilegedContainersOfAnImage(t *testing.T) {
	m := imager(t)
	tree := imageTree(t)
	c := m.imageContainer(tree, "sh", "-c", `mount -t tmpfs own /home && echo mounted; grep Seccomp: /proc/self/status
		grep -c ' /sys sysfs ro\| /proc/sys ' /proc/mounts; test -e $DEVICE && echo found; echo x > /dev/null; touch /dev/own && echo own`)
	device := deviceOfTheMachine(t)
	c.Env = []string{"DEVICE=" + device}
	c.Root.Privileged, c.Root.Unmasked, c.Root.Capabilities = true, true, 1<<41-1
	want := "mounted\nSeccomp:\t0\n0\n"
	if device != "" {
		want += "found\n"
	}
	if got := m.printed(c); got != want+"own\n" {
		t.Errorf("printed %q, want %q", got, want+"own\n")
	}
	if _, err := os.Stat("/dev/own"); err == nil {
		t.Error("a file that the container made in /dev is the machine's")
	}
	// The next container sees nothing of it.
	if got := m.printed(m.imageContainer(tree, "sh", "-c", "ls /dev; ls /sys/firmware; touch /proc/sys/kernel/x /sys/x 2>/dev/null || echo no")); got !=
		"core\nfd\nfull\nmqueue\nnull\nptmx\npts\nrandom\nshm\nstderr\nstdin\nstdout\ntermination-log\ntty\nurandom\nzero\nno\n" {
		t.Errorf("the container after a privileged one prints %q", got)
	}
}

// deviceOfTheMachine is a device that containers do not have; empty if there is none.
func deviceOfTheMachine(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"kmsg", "tty0", "ttyS0", "loop0", "mem", "fuse", "vda", "sda", "hpet", "rtc0"} {
		if info, err := os.Lstat("/dev/" + name); err == nil && info.Mode()&os.ModeDevice != 0 {
			return "/dev/" + name
		}
	}
	return ""
}

func TestAnImageInTheMachinesNamespaces(t *testing.T) {
	m := imager(t)
	const word = "98761234"
	c := m.imageContainer(imageTree(t), "sh", "-c", strings.ReplaceAll(`readlink /proc/self/ns/pid; readlink /proc/self/ns/ipc
		echo x > /dev/shm/$NAME; ls -d /dev/mqueue; setsid sleep WORD & (setsid sleep WORD &); exec sleep WORD`, "WORD", word))
	c.Root.HostPID, c.Root.HostIPC = true, true
	shared := filepath.Join("/dev/shm", filepath.Base(t.TempDir())+fmt.Sprint(os.Getpid()))
	c.Env = []string{"NAME=" + filepath.Base(shared)}
	if !m.Info().CanShareNamespaces {
		if s := m.run(c); !strings.Contains(s.StartError, "root of the machine") {
			t.Errorf("without root: %+v", s)
		}
		return
	}
	t.Cleanup(func() { os.Remove(shared) })
	pids, _ := os.Readlink("/proc/self/ns/pid")
	ipc, _ := os.Readlink("/proc/self/ns/ipc")
	m.start(c)
	want := fmt.Sprintf("%s\n%s\n/dev/mqueue\n", pids, ipc)
	await.Until(t, "it prints its namespaces", func() bool { return m.outputIfAny(c) == want }, func() string { return m.outputIfAny(c) })
	if _, err := os.Stat(shared); err != nil {
		t.Errorf("its shared memory is not the machine's: %v", err)
	}
	await.Until(t, "all its processes run", func() bool { return alive(t, word) >= 3 })
	if err := m.Stop(await.Context(t), c.ID, 0); err != nil {
		t.Fatal(err)
	}
	m.wait(c.ID)
	if n := alive(t, word); n != 0 {
		t.Errorf("%d processes are left", n)
	}
}

// Containers of a pod that share a pid namespace can see and signal one another, but not process 1.
func TestContainersOfAnImageShareProcessIDs(t *testing.T) {
	m := imager(t)
	tree := imageTree(t)
	const word = "98764321"
	sharing := func(name, script string) runtime.Container {
		c := m.imageContainer(tree, "sh", "-c", script)
		c.Container, c.Root.SharePIDs = name, true
		return c
	}
	proxy := sharing("proxy", "trap 'echo asked; exit 3' TERM; (setsid sleep "+word+" &); echo $$; while :; do sleep 0.1; done")
	proxy.LogPath += ".proxy"
	m.start(proxy)
	await.Until(t, "the proxy runs", func() bool { return strings.HasSuffix(m.outputIfAny(proxy), "\n") })
	main := sharing("main", "kill -9 1; cat /proc/1/environ /proc/1/maps 2>/dev/null | wc -c; kill $PROXY && echo sent")
	main.PodUID, main.Env = proxy.PodUID, []string{"PROXY=" + strings.TrimSpace(m.outputIfAny(proxy))}
	if got := m.printed(main); got != "0\nsent\n" {
		t.Errorf("the main container prints %q", got)
	}
	if s := m.wait(proxy.ID); s.ExitCode != 3 {
		t.Errorf("the proxy ended with %+v", s)
	}
	if n := alive(t, word); n != 0 {
		t.Errorf("%d processes of the proxy are left", n)
	}
	if err := m.RemovePod(await.Context(t), proxy.PodUID, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	// Process 1 belongs to the pod. It must not be in the cgroup of the container for which it was started, because that
	// cgroup must be empty when the container has ended.
	limited := sharing("limited", `grep ':memory:/$' /proc/1/cgroup | wc -l`)
	limited.MemoryLimitBytes = 64 << 20
	if got := m.printed(limited); got != "0\n" && m.Info().EnforcesMemory {
		t.Errorf("process 1 is in %s cgroup of the first container", got)
	}
	// Another pod has a pid namespace of its own.
	if got := m.printed(sharing("alone", "ls -d /proc/[0-9]* | wc -l")); got > "4\n" {
		t.Errorf("another pod sees %s processes", got)
	}
}

func TestKernelParametersInAnImage(t *testing.T) {
	m := imager(t)
	if !m.Info().CanSetSysctls {
		t.Skip("this kernel does not let this user set them")
	}
	tree := imageTree(t)
	const show = "cat /proc/sys/kernel/shmmni /proc/sys/fs/mqueue/msg_max"
	usual := m.printed(m.imageContainer(tree, "sh", "-c", show))
	c := m.imageContainer(tree, "sh", "-c", show)
	c.Root.Sysctls = map[string]string{"kernel.shmmni": "123", "fs.mqueue.msg_max": "9"}
	if got := m.printed(c); got != "123\n9\n" {
		t.Errorf("printed %q", got)
	}
	if got := m.printed(m.imageContainer(tree, "sh", "-c", show)); got != usual {
		t.Errorf("the next container has %q, want %q", got, usual)
	}
	for name, want := range map[string]string{"kernel.core_pattern": "not a parameter of an ipc namespace", "fs.mqueue.none": "no such file", "kernel.shmmni": "invalid argument"} {
		c := m.imageContainer(tree, "sh", "-c", show)
		c.Root.Sysctls = map[string]string{name: "many"}
		if s := m.run(c); !strings.Contains(s.StartError, name) || !strings.Contains(s.StartError, want) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
