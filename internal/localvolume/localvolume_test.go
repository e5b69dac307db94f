package localvolume_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stint-dev/stint/internal/datadir"
	"github.com/stint-dev/stint/internal/localvolume"
)

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, path string, want bool) {
	t.Helper()
	_, err := os.Lstat(path)
	if (err == nil) != want || err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v, want it there: %v", path, err, want)
	}
}

func TestAVolumeIsMadeOnceAndKeepsItsData(t *testing.T) {
	data := t.TempDir()
	d := localvolume.Of(data, nil)
	for range 2 {
		if err := d.Make(t.Context(), "pvc-1"); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(d.Path("pvc-1"))
		if err != nil || info.Mode().Perm() != 0o777 {
			t.Fatalf("%v, %v: want a directory for every user", info, err)
		}
		write(t, filepath.Join(d.Path("pvc-1"), "result"))
	}
	parent, err := os.Stat(filepath.Join(data, datadir.PersistentVolumes))
	if err != nil || parent.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v: want a directory that only the server's user may enter", parent, err)
	}
	// What a killed server was about to name is taken up.
	if err := os.Rename(d.Path("pvc-1"), d.Path(".made-pvc-2")); err != nil {
		t.Fatal(err)
	}
	if err := d.Make(t.Context(), "pvc-2"); err != nil {
		t.Fatal(err)
	}
	wantFile(t, d.Path("pvc-2"), true)
}

func TestOnlyTheVolumeIsRemoved(t *testing.T) {
	base := t.TempDir()
	decoy := filepath.Join(base, "decoy", "file")
	write(t, decoy)
	d := localvolume.Of(filepath.Join(base, "data"), nil)
	for _, name := range []string{"pvc-1", "pvc-2"} {
		if err := d.Make(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(d.Path(name), "deep", "file"))
	}
	if err := os.Symlink(filepath.Dir(decoy), filepath.Join(d.Path("pvc-1"), "link")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // A second removal finds nothing, and that is fine.
		if err := d.Remove(t.Context(), "pvc-1"); err != nil {
			t.Fatal(err)
		}
	}
	wantFile(t, d.Path("pvc-1"), false)
	wantFile(t, filepath.Join(d.Path("pvc-2"), "deep", "file"), true)
	wantFile(t, decoy, true)
}

func TestAVolumeThatIsALinkIsNotFollowed(t *testing.T) {
	base := t.TempDir()
	decoy := filepath.Join(base, "decoy", "file")
	write(t, decoy)
	d := localvolume.Of(base, nil)
	if err := d.Make(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(decoy), d.Path("pvc-1")); err != nil {
		t.Fatal(err)
	}
	if err := d.Make(t.Context(), "pvc-1"); err == nil {
		t.Error("a link was taken for the directory of a volume")
	}
	if path, err := d.Find("pvc-1"); err == nil {
		t.Errorf("a link was found as the directory %s", path)
	}
	if err := d.Remove(t.Context(), "pvc-1"); err != nil {
		t.Error(err)
	}
	wantFile(t, decoy, true)
}

func TestVolumesBehindALinkAreLeftAlone(t *testing.T) {
	base := t.TempDir()
	decoy := filepath.Join(base, "decoy", "pvc-1", "file")
	write(t, decoy)
	if err := os.Symlink(filepath.Join(base, "decoy"), filepath.Join(base, datadir.PersistentVolumes)); err != nil {
		t.Fatal(err)
	}
	d := localvolume.Of(base, nil)
	if err := d.Remove(t.Context(), "pvc-1"); err == nil {
		t.Error("volumes were removed through a link")
	}
	if err := d.Make(t.Context(), "pvc-2"); err == nil {
		t.Error("a volume was made through a link")
	}
	wantFile(t, decoy, true)
	wantFile(t, filepath.Join(base, "decoy", "pvc-2"), false)
}

func TestNamesThatLeadElsewhereAreRefused(t *testing.T) {
	base := t.TempDir()
	decoy := filepath.Join(base, "decoy", "file")
	write(t, decoy)
	d := localvolume.Of(base, nil)
	if err := d.Make(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", "..", "../decoy", "a/../../decoy", filepath.Dir(decoy), ".hidden"} {
		if d.Make(t.Context(), name) == nil || d.Remove(t.Context(), name) == nil {
			t.Errorf("%q was taken for the name of a volume", name)
		}
	}
	wantFile(t, decoy, true)
}

// The directory has another name while it is emptied, so a volume is whole or not there.
func TestAVolumeIsEmptiedUnderAnotherName(t *testing.T) {
	data := t.TempDir()
	var emptied string
	d := localvolume.Of(data, func(_ context.Context, dir string) error {
		emptied = dir
		wantFile(t, filepath.Join(data, datadir.PersistentVolumes, "pvc-1"), false)
		wantFile(t, filepath.Join(dir, "file"), true)
		return errors.New("the host process is of an older version")
	})
	if err := d.Make(t.Context(), "pvc-1"); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(d.Path("pvc-1"), "file"))
	if err := d.Remove(t.Context(), "pvc-1"); err != nil {
		t.Errorf("what this user can remove was not removed: %v", err)
	}
	wantFile(t, emptied, false)
}

func TestAVolumeThatIsPartlyRemovedGoes(t *testing.T) {
	d := localvolume.Of(t.TempDir(), nil)
	if err := d.Make(t.Context(), "pvc-1"); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(d.Path(".removed-pvc-1"), "left"))
	if err := os.Remove(d.Path("pvc-1")); err != nil {
		t.Fatal(err)
	}
	if err := d.Remove(t.Context(), "pvc-1"); err != nil {
		t.Fatal(err)
	}
	wantFile(t, d.Path(".removed-pvc-1"), false)
}
