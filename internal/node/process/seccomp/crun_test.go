package seccomp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stint-dev/stint/internal/node/process/seccomp"
	"golang.org/x/sys/unix"
)

// specification returns a profile without conditions as the linux.seccomp of an OCI runtime specification.
func specification(p seccomp.Profile, rules []seccomp.Rule) map[string]any {
	action := func(a seccomp.Action) (name string, errno any) {
		if a&unix.SECCOMP_RET_ACTION_FULL == unix.SECCOMP_RET_ERRNO {
			return "SCMP_ACT_ERRNO", uint32(a & unix.SECCOMP_RET_DATA)
		}
		return a.String(), nil
	}
	var syscalls []map[string]any
	for _, rule := range rules {
		one := map[string]any{"names": rule.Names}
		name, errno := action(rule.Action)
		one["action"] = name
		if errno != nil {
			one["errnoRet"] = errno
		}
		var args []map[string]any
		for _, a := range rule.Args {
			args = append(args, map[string]any{"index": a.Index, "value": a.Value, "valueTwo": a.ValueTwo, "op": a.Op})
		}
		if args != nil {
			one["args"] = args
		}
		syscalls = append(syscalls, one)
	}
	name, errno := action(p.Default)
	return map[string]any{"defaultAction": name, "defaultErrnoRet": errno, "syscalls": syscalls}
}

// container returns a command that runs a prober in crun, under a profile that crun compiles with libseccomp.
func container(t *testing.T, seccompSpec map[string]any) *exec.Cmd {
	t.Helper()
	crun, err := exec.LookPath("crun")
	if err != nil {
		t.Skip("compares with crun, which is not installed")
	}
	if os.Getuid() != 0 {
		t.Skip("compares with crun, which needs root here")
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mounts := []map[string]any{{"destination": "/dev", "source": "tmpfs", "type": "tmpfs"}, {"destination": "/proc", "source": "proc", "type": "proc"}}
	for _, dir := range []string{"/usr", "/lib", "/lib64"} { // for a test binary with the race detector
		if _, err := os.Stat(dir); err == nil {
			mounts = append(mounts, map[string]any{"destination": dir, "source": dir, "type": "bind", "options": []string{"rbind", "ro"}})
		}
	}
	mounts = append(mounts, map[string]any{"destination": "/prober", "source": binary, "type": "bind", "options": []string{"bind", "ro"}})
	spec, err := json.Marshal(map[string]any{
		"ociVersion": "1.0.2",
		"root":       map[string]any{"path": "rootfs"},
		"mounts":     mounts,
		"process": map[string]any{
			"args": []string{"/prober", prober}, "cwd": "/", "user": map[string]any{"uid": 0, "gid": 0},
			"noNewPrivileges": true, "capabilities": map[string]any{},
		},
		"linux": map[string]any{"namespaces": []map[string]any{{"type": "mount"}, {"type": "uts"}}, "seccomp": seccompSpec},
	})
	if err != nil {
		t.Fatal(err)
	}
	bundle := t.TempDir()
	if err := os.Mkdir(filepath.Join(bundle, "rootfs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bundle, "config.json"), spec, 0o644); err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	// crun fails on machines with both versions of cgroups, so it runs in a mount namespace in which it sees only one.
	const wrapper = `mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec "$0" "$@"`
	return exec.Command("unshare", "--mount", "sh", "-c", wrapper, crun, "--root", state, "--cgroup-manager", "disabled",
		"run", "--bundle", bundle, fmt.Sprintf("stint-seccomp-%d", os.Getpid()))
}

// The same rules have the same verdicts in crun, which uses libseccomp.
func TestCrunAgrees(t *testing.T) {
	host, err := seccomp.ThisHost()
	if err != nil {
		t.Fatal(err)
	}
	twice := seccomp.Profile{Default: allow, Rules: []seccomp.Rule{
		{Names: []string{"personality"}, Action: unlike, Args: []seccomp.Arg{
			{Index: 0, Op: seccomp.Equal, Value: 0}, {Index: 0, Op: seccomp.Equal, Value: 0x1000000},
		}},
		{Names: []string{"socket"}, Action: unlike, Args: []seccomp.Arg{
			{Index: 0, Op: seccomp.GreaterThan, Value: unix.AF_INET}, {Index: 1, Op: seccomp.NotEqual, Value: unix.SOCK_STREAM},
		}},
		{Names: []string{"clone"}, Action: unlike, Args: []seccomp.Arg{
			{Index: 0, Op: seccomp.MaskedEqual, Value: unix.CLONE_NEWUSER, ValueTwo: unix.CLONE_NEWUSER},
		}},
		{Names: []string{"keyctl"}, Action: unlike, Args: []seccomp.Arg{{Index: 0, Op: seccomp.GreaterOrEqual, Value: 1 << 40}}},
		{Names: []string{"bpf"}, Action: unlike, Args: []seccomp.Arg{{Index: 0, Op: seccomp.LessThan, Value: 1 << 40}}},
		{Names: []string{"kcmp"}, Action: unlike, Args: []seccomp.Arg{{Index: 0, Op: seccomp.LessOrEqual, Value: ^uint64(0)}}},
	}}
	builtIn := seccomp.RuntimeDefault()
	builtIn.Default = unlike
	for name, c := range map[string]struct {
		profile seccomp.Profile
		caps    []string
	}{
		"the built-in profile":                    {profile: builtIn},
		"the built-in profile with CAP_SYS_ADMIN": {profile: builtIn, caps: []string{admin}},
		"conditions on arguments":                 {profile: twice},
	} {
		t.Run(name, func(t *testing.T) {
			calls := harmless()
			active := seccomp.Active(c.profile, c.caps, host)
			theirs, err := ask(container(t, specification(c.profile, active)), probe{Calls: calls})
			if err != nil {
				t.Skipf("crun does not run a container here: %v", err)
			}
			filter := thisMachine(t, c.profile, c.caps...)
			ours, err := ask(self(t), probe{Filter: filter, Flags: c.profile.Flags, Calls: calls, User: nobody})
			if err != nil {
				t.Fatal(err)
			}
			denied := 0
			for i, call := range calls {
				if (ours[i] == unlikeErrno) != (theirs[i] == unlikeErrno) {
					t.Errorf("%s: error %d here, %d under crun", call, ours[i], theirs[i])
				}
				if ours[i] == unlikeErrno {
					denied++
				}
			}
			t.Logf("%d of %d calls denied", denied, len(calls))
		})
	}
}
