package store

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/stint-dev/stint/internal/filesystem"
	"github.com/stint-dev/stint/internal/image/layer"
)

// Bounds of an archive of images: the number of its files, and the bytes of their names.
const (
	maxFiles = 10_000
	maxNames = 1 << 20
)

// maxAnswer bounds what is read of what a child prints, in bytes, as an archive may have taken control of the child.
const maxAnswer = 8 << 20

// maxFileLinks is how many links lead from a name in an archive to its file.
const maxFileLinks = 40

// Archive is an archive of images whose files can be read in any order.
type Archive struct {
	file  *os.File
	files map[string]archiveFile
}

// archiveFile is where in an archive, without compression, a file is. A link has only the path that it leads to.
type archiveFile struct {
	Offset int64  `json:"offset,omitempty"`
	Size   int64  `json:"size,omitempty"`
	Link   string `json:"link,omitempty"`
}

// archiveList is the answer of the child that reads an archive.
type archiveList struct {
	// Plain reports whether the archive was compressed, and the file for its content without compression has that.
	Plain bool                   `json:"plain"`
	Files map[string]archiveFile `json:"files"`
}

// OpenArchive opens an archive, which may be compressed with gzip or zstd. A child reads what the archive consists of.
func (s *Store) OpenArchive(ctx context.Context, path string) (*Archive, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is not a regular file", path))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	var a *Archive
	err = s.Work(func(dir string) error {
		a, err = s.list(ctx, file, dir)
		return err
	})
	if err != nil {
		file.Close()
		return nil, err
	}
	return a, nil
}

func (s *Store) list(ctx context.Context, file *os.File, work string) (*Archive, error) {
	plain, err := os.CreateTemp(work, "archive.")
	if err != nil {
		return nil, err
	}
	defer os.Remove(plain.Name())
	answer := &head{max: maxAnswer}
	if err := runChild(ctx, childTask{Store: s.dir, List: plain.Name()}, file, answer); err != nil {
		plain.Close()
		return nil, err
	}
	found, err := readList(answer.Bytes())
	if err != nil {
		plain.Close()
		return nil, fmt.Errorf("what was found in the archive: %w", err)
	}
	if found.Plain {
		file.Close()
		return &Archive{plain, found.Files}, nil
	}
	plain.Close()
	return &Archive{file, found.Files}, nil
}

func readList(answer []byte) (found archiveList, err error) {
	if err := json.Unmarshal(answer, &found); err != nil {
		return found, err
	}
	for name, f := range found.Files {
		if f.Offset < 0 || f.Size < 0 {
			return found, fmt.Errorf("the file %.200q is at %d and has %d bytes", name, f.Offset, f.Size)
		}
	}
	return found, nil
}

// Close closes the archive.
func (a *Archive) Close() error { return a.file.Close() }

// Has reports whether the archive has a file of that name.
func (a *Archive) Has(name string) bool {
	_, ok := a.files[path.Clean(name)]
	return ok
}

// Open returns a file of the archive and its size.
func (a *Archive) Open(name string) (io.ReadCloser, int64, error) {
	at := path.Clean(name)
	for range maxFileLinks {
		f, ok := a.files[at]
		switch {
		case !ok:
			return nil, 0, fmt.Errorf("the archive has no file %.200q: %w", name, fs.ErrNotExist)
		case f.Link == "":
			return io.NopCloser(io.NewSectionReader(a.file, f.Offset, f.Size)), f.Size, nil
		}
		at = f.Link
	}
	return nil, 0, fmt.Errorf("more than %d links lead to the file %.200q of the archive", maxFileLinks, name)
}

// listArchive lists, in a child, the files of the archive in.
func (t childTask) listArchive(in *os.File, out io.Writer) error {
	compressed, err := isCompressed(in)
	if err != nil {
		return err
	}
	tarFile := in
	if compressed {
		if tarFile, err = t.unpackArchive(in); err != nil {
			return fmt.Errorf("it is not an image archive: %w", err)
		}
		defer tarFile.Close()
	}
	files, err := filesOf(tarFile)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(archiveList{compressed, files})
}

func isCompressed(in io.ReaderAt) (bool, error) {
	begin := make([]byte, len(zstdMagic))
	if _, err := in.ReadAt(begin, 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return bytes.HasPrefix(begin, gzipMagic) || bytes.HasPrefix(begin, zstdMagic), nil
}

// unpackArchive writes the content of a compressed archive to the file of the task, and returns that at its start.
func (t childTask) unpackArchive(in io.Reader) (*os.File, error) {
	plain, err := decompress(in)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(t.List, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	written, err := io.Copy(filesystem.Writer{To: f, Take: t.take()}, io.LimitReader(plain, layer.DefaultMaxBytes+1))
	if err == nil && written > layer.DefaultMaxBytes {
		err = fmt.Errorf("it has more than %d bytes without compression", layer.DefaultMaxBytes)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// filesOf returns the files of an archive without compression. Of several files with one name, the first counts.
func filesOf(in io.ReadSeeker) (map[string]archiveFile, error) {
	files, names := map[string]archiveFile{}, 0
	for archive := tar.NewReader(in); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("it is not an image archive: %w", err)
		}
		name := path.Clean(h.Name)
		if _, known := files[name]; known || !isFile(h) {
			continue
		}
		f, err := fileOf(h, in)
		if err != nil {
			return nil, err
		}
		files[name] = f
		names += len(name) + len(f.Link)
		switch {
		case len(files) > maxFiles:
			return nil, fmt.Errorf("the archive has more than %d files: save fewer images in one archive", maxFiles)
		case names > maxNames:
			return nil, fmt.Errorf("the names in the archive have more than %d bytes: save fewer images in one archive", maxNames)
		}
	}
}

func isFile(h *tar.Header) bool {
	return slices.Contains([]byte{tar.TypeReg, tar.TypeGNUSparse, tar.TypeLink, tar.TypeSymlink}, h.Typeflag)
}

// fileOf returns where the file is whose header has just been read from in.
func fileOf(h *tar.Header, in io.Seeker) (archiveFile, error) {
	switch h.Typeflag {
	case tar.TypeLink:
		return archiveFile{Link: path.Clean(h.Linkname)}, nil
	case tar.TypeSymlink:
		return archiveFile{Link: path.Join(path.Dir(path.Clean(h.Name)), h.Linkname)}, nil
	}
	if isSparse(h) {
		return archiveFile{}, errors.New("the archive has sparse files: write it without them (GNU tar: leave out --sparse)")
	}
	at, err := in.Seek(0, io.SeekCurrent)
	return archiveFile{Offset: at, Size: h.Size}, err
}

// isSparse reports whether an archive has the content of a file without its holes.
func isSparse(h *tar.Header) bool {
	isOfSparse := func(key string) bool { return strings.HasPrefix(key, "GNU.sparse.") }
	return h.Typeflag == tar.TypeGNUSparse || slices.ContainsFunc(slices.Collect(maps.Keys(h.PAXRecords)), isOfSparse)
}

// head keeps the beginning of what is written to it.
type head struct {
	bytes.Buffer
	max int
}

// Write implements io.Writer.
func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), h.max-h.Len())])
	return len(p), nil
}
