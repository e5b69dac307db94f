package machine

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stint-dev/stint/test/await"
)

// Options choose what a machine is like.
type Options struct {
	// Cgroups is the version of cgroups: 1, or 2 if it is not set.
	Cgroups int
	// Memory is in MiB, and holds all files, too.
	Memory int
	// Files are files and folders of this machine, by the paths that they have in the other.
	Files map[string]string
}

// limit is how long a machine may run. It is emulated, and so many times slower than this one.
const limit = 4 * await.Limit

// missing is the exit status of test/machine/boot where something that it needs is missing.
const missing = 77

// Run runs a command in a machine of its own, and returns what it has written. Unless it ends with status 0 the test fails.
func Run(t testing.TB, o Options, command ...string) string {
	t.Helper()
	output, messages, status := boot(t, o, command)
	if status != 0 {
		t.Fatalf("%q ended with status %d:\n%s%s", command, status, output, messages)
	}
	return output
}

// boot returns what the command has written, what the script has to say itself, and the exit status of both.
func boot(t testing.TB, o Options, command []string) (output, messages string, status int) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("virtual machines have an amd64 processor")
	}
	cmd := exec.Command(script(t), append(o.arguments(), command...)...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	output, messages, status = stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
	if status == missing {
		lines := strings.Split(strings.TrimSpace(messages), "\n")
		t.Skip(lines[len(lines)-1])
	}
	return output, messages, status
}

// arguments are those of test/machine/boot, up to the command.
func (o Options) arguments() []string {
	args := []string{"--timeout", strconv.Itoa(int(limit.Seconds()))}
	if o.Cgroups != 0 {
		args = append(args, "--cgroups", strconv.Itoa(o.Cgroups))
	}
	if o.Memory != 0 {
		args = append(args, "--memory", strconv.Itoa(o.Memory))
	}
	for _, there := range slices.Sorted(maps.Keys(o.Files)) {
		args = append(args, "--file", fmt.Sprintf("%s:%s", o.Files[there], there))
	}
	return append(args, "--")
}

// script finds test/machine/boot from the folder of the package that is tested.
func script(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "test", "machine", "boot")
		if _, err := os.Stat(path); err == nil {
			return path
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("test/machine/boot is in no folder above this one")
		}
	}
}
