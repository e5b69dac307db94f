package userns

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ids")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSubordinateIDs(t *testing.T) {
	const text = "# none\nother:1:2\nme:100000:65536\n77:300000:10\nme:wrong:3\nme:5:0\n"
	ranges, err := rangesOf([]string{"77", "me"}, file(t, text))
	if err != nil || len(ranges) != 2 {
		t.Fatal(ranges, err)
	}
	if r := ranges[0]; r.ContainerID != 1 || r.HostID != 100000 || r.Size != 65536 {
		t.Errorf("the first range is %+v", r)
	}
	if r := ranges[1]; r.ContainerID != 65537 || r.HostID != 300000 || r.Size != 10 {
		t.Errorf("the second range is %+v", r)
	}
	ids := IDs{uids: append(only(77), ranges...), gids: append(only(77), ranges[:1]...)}
	if n := ids.Count(); n != 65537 {
		t.Errorf("Count() = %d", n)
	}
	for _, path := range []string{file(t, "other:1:2\n"), filepath.Join(t.TempDir(), "none")} {
		if _, err := rangesOf([]string{"77", "me"}, path); err == nil || !strings.Contains(err.Error(), "usermod --add-subuids") {
			t.Errorf("without a line: %v", err)
		}
	}
}

// A program whose ids are never mapped must not run with the unmapped ones.
func TestAProgramWithoutItsIDsDoesNotRun(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), awaitVariable+"=0")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "no ids") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestARestrictionIsNamed(t *testing.T) {
	dir := t.TempDir()
	if got := restriction(dir); got != "" {
		t.Errorf("without settings: %s", got)
	}
	if err := os.Mkdir(filepath.Join(dir, "kernel"), 0o755); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "kernel/apparmor_restrict_unprivileged_userns")
	for value, restricts := range map[string]bool{"0\n": false, "1\n": true} {
		if err := os.WriteFile(at, []byte(value), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := restriction(dir); (got != "") != restricts {
			t.Errorf("%q: %s", value, got)
		}
	}
}
