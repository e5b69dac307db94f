package volumes

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A volume whose group cannot be set is not shown to containers, and its group is set at the next try. Later its group
// is left alone, as containers may have changed what is in an emptyDir.
func TestAVolumeIsSharedBeforeItIsShown(t *testing.T) {
	for name, fill := range map[string]func(string, groupSetter) error{
		"an emptyDir": makeEmptyDir,
		"files": func(dir string, share groupSetter) error {
			return write(t.Context(), dir, files(map[string]string{"a": "1"}), share)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "volume")
			refused := errors.New("not now")
			if err := fill(dir, func(string) error { return refused }); !errors.Is(err, refused) {
				t.Fatalf("not shared: %v", err)
			}
			if entries, _ := filepath.Glob(filepath.Join(dir, "[^.]*")); len(entries) != 0 {
				t.Errorf("before it is shared it shows %v", entries)
			}
			var shared []string
			for range 2 {
				if err := fill(dir, func(part string) error { shared = append(shared, part); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			if len(shared) != 1 {
				t.Errorf("shared %v, want it once", shared)
			}
		})
	}
}

func TestFilesAreSharedAgainWhenTheyChange(t *testing.T) {
	dir := t.TempDir()
	var modes []fs.FileMode
	share := func(generation string) error {
		info, err := os.Stat(filepath.Join(generation, "a"))
		if err == nil {
			modes = append(modes, info.Mode())
		}
		return err
	}
	for _, text := range []string{"1", "1", "2"} {
		if err := write(t.Context(), dir, map[string]file{"a": {data: []byte(text), mode: 0o400}}, share); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]fs.FileMode{0o440, 0o440}, modes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"a": "2"}, shown(t, dir)); diff != "" {
		t.Error(diff)
	}
}
