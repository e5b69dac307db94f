package volumes

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// shown is what a reader of the folder sees, name by name.
func shown(t interface{ Fatal(...any) }, dir string) map[string]string {
	seen := map[string]string{}
	var walk func(path, name string)
	walk = func(path, name string) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if !info.IsDir() {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			seen[name] = string(text)
			return
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), "..") {
				walk(filepath.Join(path, e.Name()), filepath.Join(name, e.Name()))
			}
		}
	}
	walk(dir, "")
	return seen
}

func files(texts map[string]string) map[string]file {
	m := map[string]file{}
	for name, text := range texts {
		m[name] = file{data: []byte(text), mode: 0o640}
	}
	return m
}

func TestWriteShowsExactlyTheFiles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "volume")
		if err != nil {
			rt.Fatal(err)
		}
		content := rapid.MapOf(rapid.SampledFrom([]string{"a", "b", "sub/c", "sub/d", "deep/er/e"}), rapid.StringN(0, 3, 9))
		for range rapid.IntRange(1, 5).Draw(rt, "writes") {
			want := content.Draw(rt, "files")
			if err := write(t.Context(), dir, files(want), nil); err != nil {
				rt.Fatal(err)
			}
			if diff := cmp.Diff(want, shown(rt, dir)); diff != "" {
				rt.Fatalf("the folder shows (-want +got):\n%s", diff)
			}
		}
		if generations, err := filepath.Glob(filepath.Join(dir, "..2*")); err != nil || len(generations) != 1 {
			rt.Fatalf("generations left: %v, %v", generations, err)
		}
	})
}

func TestWritingTheSameAgainChangesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := write(t.Context(), dir, files(map[string]string{"a": "1"}), nil); err != nil {
		t.Fatal(err)
	}
	before, err := os.Readlink(filepath.Join(dir, dataLink))
	if err != nil {
		t.Fatal(err)
	}
	if err := write(t.Context(), dir, files(map[string]string{"a": "1"}), nil); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Readlink(filepath.Join(dir, dataLink)); err != nil || after != before {
		t.Errorf("generation went from %s to %s, %v", before, after, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "a")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info, err)
	}
	other := map[string]file{"a": {data: []byte("1"), mode: 0o600}}
	if err := write(t.Context(), dir, other, nil); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "a")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a new mode alone was not written: %v, %v", info, err)
	}
}

func TestWriteKeepsInside(t *testing.T) {
	for _, path := range []string{"../a", "/a", "..", "..data", "a/../../b", ""} {
		if err := write(t.Context(), t.TempDir(), map[string]file{path: {}}, nil); err == nil {
			t.Errorf("wrote to %q", path)
		}
	}
}

// A pod may reach the folder through a hostPath, and change where the link leads.
func TestWriteLeavesAloneWhatAPlantedLinkLeadsTo(t *testing.T) {
	for name, target := range map[string]string{"by its path": "", "by climbing": "../decoy", "the folder itself": "."} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			dir, decoy := filepath.Join(base, "volume"), filepath.Join(base, "decoy")
			if err := os.Mkdir(decoy, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(decoy, "kept"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := write(t.Context(), dir, files(map[string]string{"a": "1"}), nil); err != nil {
				t.Fatal(err)
			}
			data := filepath.Join(dir, dataLink)
			if err := os.Remove(data); err != nil {
				t.Fatal(err)
			}
			if target == "" {
				target = decoy
			}
			if err := os.Symlink(target, data); err != nil {
				t.Fatal(err)
			}
			if err := write(t.Context(), dir, files(map[string]string{"a": "2"}), nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]string{"a": "2"}, shown(t, dir)); diff != "" {
				t.Error(diff)
			}
			if _, err := os.Stat(filepath.Join(decoy, "kept")); err != nil {
				t.Error(err)
			}
		})
	}
}

// The pods directory may be removed while a server runs, so it is made again with its mode. A container sees the volume
// itself, whichever user it runs as.
func TestDirectoriesAboveAVolumeAreClosed(t *testing.T) {
	pods := filepath.Join(t.TempDir(), "pods")
	made := map[string]error{
		"written": write(t.Context(), filepath.Join(pods, "uid", "written"), files(map[string]string{"a": "1"}), nil),
		"empty":   makeEmptyDir(filepath.Join(pods, "uid", "empty"), nil),
	}
	for name, want := range map[string]fs.FileMode{".": 0o700, "uid": 0o700, "uid/written": 0o755, "uid/empty": 0o777} {
		info, err := os.Stat(filepath.Join(pods, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v (%v)", name, info, err, want, made)
		}
	}
}
