package process_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-dev/stint/internal/node/process/rundir"
	"github.com/stint-dev/stint/test/await"
)

// contents returns the files and directories below dir.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			found[path] = ""
			return err
		}
		text, err := os.ReadFile(path)
		found[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The decoy has the names of all files that a host truncates or removes in its run directory.
func TestADirectoryThatADataDirectoryNamesIsLeftAlone(t *testing.T) {
	decoy, dir := t.TempDir(), t.TempDir()
	for _, name := range []string{"kept", "host.log", "lock", "journal", "journal.new", "host.sock", "slots/1", "stage/file", "folder/file"} {
		write(t, filepath.Join(decoy, name), "text of "+name)
	}
	if err := os.Chmod(decoy, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "data", "process-runtime"), decoy+"\n")
	before := contents(t, decoy)

	m := startIn(t, dir)
	c := m.container("true")
	if s := m.run(c); s.ExitCode != 0 {
		t.Errorf("ended as %+v", s)
	}
	if err := m.Forget(await.Context(t), c.ID); err != nil {
		t.Fatal(err)
	}
	m.Close()
	await.Until(t, "the idle host ends", func() bool {
		_, err := rundir.Find(filepath.Join(dir, "data"))
		return err != nil
	})
	if diff := cmp.Diff(before, contents(t, decoy)); diff != "" {
		t.Error(diff)
	}
}
