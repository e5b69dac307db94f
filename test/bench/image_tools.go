package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// containerTool runs /bin/true of an image.
type containerTool struct {
	name string
	// command runs one container; {} is its number.
	command []string
	// fraction divides the number of pods: so many containers are enough to measure a slow tool.
	fraction int
}

// containerTools returns the tools that this machine has and that can run the image here.
func (b *bench) containerTools(ctx context.Context, program file) []containerTool {
	var all []containerTool
	for _, open := range []func(context.Context, file) (containerTool, error){b.crun, b.podman} {
		tool, err := open(ctx, program)
		if err == nil {
			_, err = tool.run(ctx, 1)
		}
		if err != nil {
			fmt.Printf("%s is left out: %v\n", tool.name, err)
			continue
		}
		all = append(all, tool)
	}
	return all
}

// oneVersion hides cgroups of version 2 from the command that it runs, since crun refuses machines that have both
// versions.
const oneVersion = "umount -l /sys/fs/cgroup/unified 2>/dev/null; exec \"$@\""

// run has xargs run n containers.
func (t containerTool) run(ctx context.Context, n int) (result, error) {
	args := append([]string{"xargs", "-P" + strconv.Itoa(atATimeInHost), "-I{}"}, t.command...)
	if os.Geteuid() == 0 {
		args = append([]string{"unshare", "--mount", "sh", "-c", oneVersion, "sh"}, args...)
	}
	var numbers bytes.Buffer
	for i := range n {
		fmt.Fprintln(&numbers, i)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin = &numbers
	clock := newStopwatch()
	clock.start()
	err := quietly(cmd)
	r := clock.stop()
	r.things = n
	return r, err
}

// crun runs the files of the image in place, read-only, on the machine's network and without cgroups.
func (b *bench) crun(ctx context.Context, program file) (t containerTool, err error) {
	t.name, t.fraction = "crun run --cgroup-manager=disabled", 4
	path, err := exec.LookPath("crun")
	if err != nil {
		return t, err
	}
	bundle, state := filepath.Join(b.dir, "crun"), filepath.Join(b.dir, "crun-state")
	for _, dir := range []string{"bin", "dev", "etc", "proc", "sys", "tmp"} {
		if err := os.MkdirAll(filepath.Join(bundle, "rootfs", dir), 0o755); err != nil {
			return t, err
		}
	}
	if err := os.WriteFile(filepath.Join(bundle, "rootfs", program.name), program.content, 0o755); err != nil {
		return t, err
	}
	spec := exec.CommandContext(ctx, path, "spec")
	if os.Geteuid() != 0 {
		spec.Args = append(spec.Args, "--rootless")
	}
	spec.Dir = bundle
	if out, err := spec.CombinedOutput(); err != nil {
		return t, fmt.Errorf("crun spec: %w: %s", err, out)
	}
	if err := editSpec(filepath.Join(bundle, "config.json")); err != nil {
		return t, err
	}
	t.command = []string{path, "--root", state, "--cgroup-manager=disabled", "run", "--bundle", bundle, "bench-{}"}
	return t, nil
}

// editSpec changes the spec so that the container runs /bin/true on the machine's network, as pods do here, and without
// a cgroup mount, which crun cannot make on all machines.
func editSpec(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var spec map[string]any
	if err := json.Unmarshal(text, &spec); err != nil {
		return err
	}
	process, ok1 := spec["process"].(map[string]any)
	linux, ok2 := spec["linux"].(map[string]any)
	if !ok1 || !ok2 {
		return errors.New("crun spec writes something else than expected")
	}
	process["args"], process["terminal"] = []string{"/bin/true"}, false
	linux["namespaces"] = without(linux["namespaces"], "network", "cgroup")
	spec["mounts"] = without(spec["mounts"], "cgroup", "cgroup2")
	delete(linux, "resources")
	if text, err = json.Marshal(spec); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// without returns the list without the objects of some types.
func without(list any, types ...string) (left []any) {
	all, _ := list.([]any)
	for _, item := range all {
		object, _ := item.(map[string]any)
		if kind, _ := object["type"].(string); !slices.Contains(types, kind) {
			left = append(left, item)
		}
	}
	return left
}

// podman keeps all its data below the directory of this run.
func (b *bench) podman(ctx context.Context, program file) (t containerTool, err error) {
	t.name, t.fraction = "podman run --rm --network=host --cgroups=disabled", 100
	dir := filepath.Join(b.dir, "podman")
	command, err := podmanCommand(dir)
	if err != nil {
		return t, err
	}
	b.atEnd = append(b.atEnd, func() { _ = unix.Unmount(filepath.Join(dir, "root", "overlay"), unix.MNT_DETACH) })
	packed, err := archiveOf([]file{program})
	if err != nil {
		return t, err
	}
	load := command(ctx, "import", "-", "bench:latest")
	load.Stdin = bytes.NewReader(packed)
	if err := quietly(load); err != nil {
		return t, err
	}
	t.command = command(ctx, "run", "--rm", "--network=host", "--cgroups=disabled", "--log-driver=none",
		"--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096", "bench:latest", "/bin/true").Args
	return t, nil
}

// podmanCommand makes commands of podman that keep everything in dir.
func podmanCommand(dir string) (func(ctx context.Context, args ...string) *exec.Cmd, error) {
	path, err := exec.LookPath("podman")
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, args ...string) *exec.Cmd {
		where := []string{"--root", filepath.Join(dir, "root"), "--runroot", filepath.Join(dir, "run"), "--tmpdir", filepath.Join(dir, "tmp"),
			"--storage-driver=overlay", "--cgroup-manager=cgroupfs", "--events-backend=none"}
		return exec.CommandContext(ctx, path, append(where, args...)...)
	}, nil
}

func quietly(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, bytes.TrimSpace(out))
	}
	return nil
}
