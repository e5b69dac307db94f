package volumes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stint-dev/stint/internal/beneath"
)

// dataLink is the link that one rename swaps from the old files to the new.
const dataLink = "..data"

// write makes the folder show exactly these files, old ones or new ones at any instant and never a mixture.
// It does nothing if the folder shows them already.
func write(ctx context.Context, dir string, files map[string]file, setGroup groupSetter) error {
	for path := range files {
		if !filepath.IsLocal(path) || strings.HasPrefix(path, "..") {
			return fmt.Errorf("file path %q must be relative, inside the volume, and not begin with two dots", path)
		}
	}
	if err := makeVolume(dir); err != nil {
		return err
	}
	shown, err := os.Readlink(filepath.Join(dir, dataLink))
	if err == nil && isGeneration(shown) && same(filepath.Join(dir, shown), files, setGroup != nil) {
		return nil
	}
	generation, err := writeGeneration(dir, files, setGroup)
	if err != nil {
		return err
	}
	if err := swap(dir, filepath.Base(generation)); err != nil {
		return err
	}
	if err := link(dir, files); err != nil {
		return err
	}
	return removeOthers(ctx, dir, filepath.Base(generation))
}

// generationPrefix begins the names of the folders that hold the files.
const generationPrefix = "..2"

func isGeneration(name string) bool {
	return strings.HasPrefix(name, generationPrefix) && beneath.IsElement(name)
}

// removeOthers removes all generations but one: the previous one, and those that a crash has left.
func removeOthers(ctx context.Context, dir, generation string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	volume, err := beneath.Open(dir)
	if err != nil {
		return err
	}
	defer volume.Close()
	for _, e := range entries {
		if isGeneration(e.Name()) && e.Name() != generation {
			if err := volume.Remove(ctx, e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeGeneration(dir string, files map[string]file, setGroup groupSetter) (string, error) {
	generation, err := os.MkdirTemp(dir, time.Now().UTC().Format("..2006_01_02_15_04_05."))
	if err != nil {
		return "", err
	}
	if err := os.Chmod(generation, 0o755); err != nil {
		return "", err
	}
	for path, f := range files {
		if err := writeFile(filepath.Join(generation, path), f, setGroup != nil); err != nil {
			return "", err
		}
	}
	if setGroup != nil {
		return generation, setGroup(generation)
	}
	return generation, nil
}

func writeFile(path string, f file, shared bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, f.data, 0o600); err != nil {
		return err
	}
	return os.Chmod(path, f.permissions(shared))
}

// permissions lets a group that shares the file read it.
func (f file) permissions(shared bool) fs.FileMode {
	mode := fs.FileMode(f.mode) & fs.ModePerm
	if shared {
		mode |= 0o040
	}
	return mode
}

func swap(dir, generation string) error {
	fresh := filepath.Join(dir, dataLink+"_tmp")
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(generation, fresh); err != nil {
		return err
	}
	return os.Rename(fresh, filepath.Join(dir, dataLink))
}

// link makes the links that users see, and removes those of files that are gone.
func link(dir string, files map[string]file) error {
	wanted := map[string]bool{}
	for path := range files {
		top, _, _ := strings.Cut(path, "/")
		wanted[top] = true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.Name(), ".."):
		case wanted[e.Name()]:
			delete(wanted, e.Name())
		default:
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	for name := range wanted {
		if err := os.Symlink(filepath.Join(dataLink, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// errDiffers ends the comparison of two generations early.
var errDiffers = errors.New("differs")

// same reports whether the generation holds exactly these files.
func same(generation string, files map[string]file, shared bool) bool {
	found := 0
	err := filepath.WalkDir(generation, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(generation, path)
		if err != nil {
			return err
		}
		found++
		return files[name].compare(path, e, shared)
	})
	return err == nil && found == len(files)
}

func (f file) compare(path string, e fs.DirEntry, shared bool) error {
	info, err := e.Info()
	if err != nil || info.Mode().Perm() != f.permissions(shared) {
		return errDiffers
	}
	data, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(data, f.data) {
		return errDiffers
	}
	return nil
}
