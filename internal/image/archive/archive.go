// Package archive reads images from files: archives of docker save, and OCI layouts as archives and directories.
package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/filesystem"
	"github.com/stint-dev/stint/internal/image/registry"
)

// Image is an image in a file, with the names that the file gives it.
type Image struct {
	v1.Image
	Names []string
}

// Read calls do for each image in a file or directory. work is a directory for temporary files.
func Read(file, work string, do func(Image) error) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return readLayout(file, do)
	}
	names, err := topNames(file)
	switch {
	case err != nil:
		return fmt.Errorf("%s is not an image archive: %w", file, err)
	case names["manifest.json"]:
		return readDocker(file, do)
	case names["index.json"]:
		return readLayoutArchive(file, work, do)
	}
	return fmt.Errorf("%s is not an image archive: it has neither a manifest.json (docker save) nor an index.json (OCI)", file)
}

// open opens an archive, which may be compressed with gzip.
func open(file string) (io.ReadCloser, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(f)
	if begin, _ := in.Peek(2); !bytes.Equal(begin, []byte{0x1f, 0x8b}) {
		_, err := f.Seek(0, io.SeekStart)
		return f, err
	}
	plain, err := gzip.NewReader(in)
	if err != nil {
		f.Close()
		return nil, err
	}
	return both{plain, f}, nil
}

type both struct {
	io.Reader
	io.Closer
}

// each calls do for each entry of an archive.
func each(file string, do func(*tar.Header, io.Reader) error) error {
	in, err := open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	for archive := tar.NewReader(in); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := do(h, archive); err != nil {
			return err
		}
	}
}

func topNames(file string) (map[string]bool, error) {
	names := map[string]bool{}
	err := each(file, func(h *tar.Header, _ io.Reader) error {
		names[path.Clean(h.Name)] = true
		return nil
	})
	return names, err
}

func readDocker(file string, do func(Image) error) error {
	opener := func() (io.ReadCloser, error) { return open(file) }
	manifest, err := tarball.LoadManifest(opener)
	if err != nil {
		return err
	}
	for _, d := range manifest {
		var tag *name.Tag
		if len(d.RepoTags) > 0 {
			t, err := name.NewTag(d.RepoTags[0], name.WeakValidation)
			if err != nil {
				return err
			}
			tag = &t
		} else if len(manifest) > 1 {
			return errors.New("an archive of several images must name each of them")
		}
		image, err := tarball.Image(opener, tag)
		if err != nil {
			return err
		}
		if err := do(Image{image, d.RepoTags}); err != nil {
			return err
		}
	}
	return nil
}

// layoutFile matches the files of an OCI layout.
var layoutFile = regexp.MustCompile(`^(oci-layout|index\.json|blobs/sha256/[0-9a-f]{64})$`)

// readLayoutArchive unpacks an OCI layout into a directory first, as its files are read in any order.
func readLayoutArchive(file, work string, do func(Image) error) error {
	dir, err := os.MkdirTemp(work, "layout.")
	if err != nil {
		return err
	}
	defer func() {
		if parent, err := beneath.Open(work); err == nil {
			_ = parent.Remove(context.Background(), filepath.Base(dir))
			parent.Close()
		}
	}()
	if err := os.MkdirAll(filepath.Join(dir, "blobs", "sha256"), 0o700); err != nil {
		return err
	}
	guard := filesystem.NewGuard(work)
	err = each(file, func(h *tar.Header, content io.Reader) error {
		at := path.Clean(h.Name)
		if h.Typeflag != tar.TypeReg || !layoutFile.MatchString(at) {
			return nil
		}
		f, err := os.OpenFile(filepath.Join(dir, at), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(filesystem.Writer{To: f, Take: guard.Take}, content)
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return err
	}
	return readLayout(dir, do)
}

// FullNames returns the complete names of an image, such as docker.io/library/perl:latest.
func (i Image) FullNames() ([]string, error) {
	var full []string
	for _, n := range i.Names {
		r, err := registry.Parse(n)
		if err != nil {
			return nil, err
		}
		full = append(full, r.String())
	}
	return full, nil
}
