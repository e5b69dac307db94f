package layer

import (
	"archive/tar"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/filesystem"
)

// Options say how a layer is unpacked.
type Options struct {
	// Owners gives files the owners that the archive states; without it, all belong to the caller.
	Owners bool
	// MaxBytes and MaxEntries bound the content of a layer; zero means DefaultMaxBytes and DefaultMaxEntries.
	MaxBytes   int64
	MaxEntries int
	// MaxRemembered bounds the memory for names and attributes that are kept until the end; MaxSteps bounds the work for links.
	// Zero means usual bounds.
	MaxRemembered int64
	MaxSteps      int
	// Take is called before something that takes so many bytes is written. Its error ends the work. It may be nil.
	Take func(bytes int64) error
}

// entrySize is about how many bytes an entry takes besides its content.
const entrySize = 4 << 10

// unbounded is a Take that allows everything.
func unbounded(int64) error { return nil }

// Default bounds of a layer, far beyond real ones.
const (
	DefaultMaxBytes      = 256 << 30
	DefaultMaxEntries    = 4_000_000
	defaultMaxRemembered = 256 << 20
)

// itemSize is about how much memory something that is remembered takes besides its name.
const itemSize = 128

func (o Options) withDefaults() Options {
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBytes)
	o.MaxEntries = cmp.Or(o.MaxEntries, DefaultMaxEntries)
	o.MaxRemembered = cmp.Or(o.MaxRemembered, defaultMaxRemembered)
	o.MaxSteps = cmp.Or(o.MaxSteps, defaultMaxSteps)
	if o.Take == nil {
		o.Take = unbounded
	}
	return o
}

// EntryError is an error in one entry of an archive.
type EntryError struct {
	Name string
	Err  error
}

func (e *EntryError) Error() string {
	if len(e.Name) > unix.PathMax {
		return fmt.Sprintf("an entry whose name has %d bytes: %v", len(e.Name), e.Err)
	}
	return fmt.Sprintf("entry %q: %v", e.Name, e.Err)
}

func (e *EntryError) Unwrap() error { return e.Err }

// Names with a special meaning in the archives of layers.
const (
	whiteoutPrefix = ".wh."
	opaqueName     = ".wh..wh..opq"
	metaPrefix     = ".wh..wh."
)

// Unpack unpacks the layer in r, a tar archive without compression, into dir, an empty directory. If it fails, Merge refuses
// the layer. Device files are left out: no container can use them, and not every user may create them. They still hide
// what lower layers have in their place.
func Unpack(r io.Reader, dir *os.File, o Options) error {
	o = o.withDefaults()
	if err := unix.Mkdirat(int(dir.Fd()), treeName, 0o755); err != nil {
		return err
	}
	tree, err := openTree(dir)
	if err != nil {
		return err
	}
	defer tree.Close()
	if err := takeGroup(tree); err != nil {
		return err
	}
	u := &unpacking{
		options: o, buffer: make([]byte, 256<<10),
		implied: map[string]bool{".": true}, leftOut: map[string]bool{}, dirs: map[string]attributes{},
	}
	u.root = &root{
		dir: tree, maxSteps: o.MaxSteps,
		implied: func(p string) {
			u.implied[p] = true
			u.untaken += entrySize
			u.remembered += itemSize + int64(len(p))
		},
		put: func(from *os.File, name string, to *os.File, as, _ string) error { return linkat(from, name, to, as) },
	}
	defer u.root.close()
	if err := u.all(tar.NewReader(r)); err != nil {
		return err
	}
	// Read what follows the end of the archive, too: the caller computes the digest of all of r.
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	if err := errors.Join(u.finishLinks(), u.finishDirs()); err != nil {
		return err
	}
	return u.changes.write(dir)
}

func openTree(layer *os.File) (*os.File, error) {
	fd, err := unix.Openat(int(layer.Fd()), treeName, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), treeName), nil
}

type unpacking struct {
	options Options
	root    *root
	changes changes
	implied map[string]bool
	// leftOut are the paths of device files: hard links to them are left out, too.
	leftOut map[string]bool
	// dirs are the attributes of directories. They are set at the end, as creating files in a directory changes its time.
	dirs    map[string]attributes
	entries int
	bytes   int64
	// untaken is what the directories that the last entries imply take.
	untaken int64
	// remembered is about how much memory implied, leftOut, dirs and changes take.
	remembered int64
	buffer     []byte
}

func (u *unpacking) all(archive *tar.Reader) error {
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		if err := u.entry(h, archive); err != nil {
			return &EntryError{h.Name, err}
		}
	}
}

func (u *unpacking) entry(h *tar.Header, content io.Reader) error {
	u.entries++
	u.bytes += max(h.Size, 0)
	switch {
	case u.entries > u.options.MaxEntries:
		return fmt.Errorf("the layer has more than %d entries", u.options.MaxEntries)
	case u.bytes > u.options.MaxBytes:
		return fmt.Errorf("the layer has more than %d bytes", u.options.MaxBytes)
	case u.remembered > u.options.MaxRemembered:
		return fmt.Errorf("the names and attributes of directories, removed files and links take more than %d bytes: "+
			"build the image with more layers", u.options.MaxRemembered)
	case h.Typeflag == tar.TypeXGlobalHeader:
		return nil
	}
	if err := u.take(entrySize); err != nil {
		return err
	}
	p, err := clean(h.Name)
	if err != nil {
		return err
	}
	if name := path.Base(p); strings.HasPrefix(name, whiteoutPrefix) {
		return u.whiteout(path.Dir(p), name)
	}
	a, err := attributesOf(h, u.options.Owners)
	if err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return u.directory(p, a)
	case tar.TypeReg, tar.TypeGNUSparse:
		return u.file(p, a, content)
	case tar.TypeSymlink:
		return u.place(p, func(dir int, name string) error { return unix.Symlinkat(h.Linkname, dir, name) }, a, true)
	case tar.TypeFifo:
		return u.place(p, func(dir int, name string) error { return unix.Mkfifoat(dir, name, 0o600) }, a, false)
	case tar.TypeLink:
		return u.link(p, h.Linkname)
	case tar.TypeChar, tar.TypeBlock:
		return u.leaveOut(p)
	}
	return fmt.Errorf("its type %q is not allowed in a layer", h.Typeflag)
}

// remember notes that names are kept until the end.
func (u *unpacking) remember(names ...string) {
	u.remembered += itemSize
	for _, n := range names {
		u.remembered += int64(len(n))
	}
}

// rememberChange notes that names are kept and then written as JSON, in which they are up to three times as long.
func (u *unpacking) rememberChange(names ...string) {
	u.remember(slices.Concat(names, names, names, names)...)
}

func (u *unpacking) take(bytes int64) error {
	bytes += u.untaken
	u.untaken = 0
	return u.options.Take(bytes)
}

func (u *unpacking) whiteout(dir, name string) error {
	u.rememberChange(dir, name)
	if name == opaqueName {
		u.changes.Opaque = append(u.changes.Opaque, entryName(dir))
		return nil
	}
	if strings.HasPrefix(name, metaPrefix) {
		return nil // A file of the aufs storage driver itself.
	}
	removed := strings.TrimPrefix(name, whiteoutPrefix)
	if removed == "" || removed == "." || removed == ".." {
		return errors.New("it removes no entry of its directory")
	}
	u.changes.Removed = append(u.changes.Removed, entryName(path.Join(dir, removed)))
	return nil
}

// directory creates a directory, or keeps the one that is there.
func (u *unpacking) directory(p string, a attributes) error {
	delete(u.implied, p)
	u.dirs[p] = a
	u.remember(p)
	for key, value := range a.xattrs {
		u.remember(key, value)
	}
	if p == "." {
		return nil
	}
	dir, name, err := u.root.parent(p)
	if err != nil {
		return err
	}
	s, there, err := stat(dir, name)
	if err != nil || there && isDir(s) {
		return err
	}
	return u.replace(dir, name, func() error { return unix.Mkdirat(int(dir.Fd()), name, 0o700) })
}

func (u *unpacking) replace(dir *os.File, name string, put func() error) error {
	if err := u.root.removeExisting(dir, name); err != nil {
		return err
	}
	return put()
}

// place creates something other than a directory at p, in place of what is there.
func (u *unpacking) place(p string, put func(dir int, name string) error, a attributes, isLink bool) error {
	dir, name, err := u.root.parent(p)
	if err != nil {
		return err
	}
	if err := u.replace(dir, name, func() error { return put(int(dir.Fd()), name) }); err != nil {
		return err
	}
	return a.apply(dir, name, isLink)
}

func (u *unpacking) file(p string, a attributes, content io.Reader) error {
	return u.place(p, func(dir int, name string) error {
		f, err := createFile(dir, name)
		if err != nil {
			return err
		}
		_, err = io.CopyBuffer(filesystem.Writer{To: f, Take: u.take}, content, u.buffer)
		return errors.Join(err, f.Close())
	}, a, false)
}

// createFile creates a file. It fails if the name exists.
func createFile(dir int, name string) (*os.File, error) {
	fd, err := unix.Openat(dir, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// leaveOut removes what is at p, here and, when the layer is merged, in lower layers.
func (u *unpacking) leaveOut(p string) error {
	dir, name, err := u.root.parent(p)
	if err != nil {
		return err
	}
	u.leftOut[p] = true
	u.rememberChange(p)
	u.changes.Removed = append(u.changes.Removed, entryName(p))
	return u.root.removeExisting(dir, name)
}

// impliedTime marks directories that a layer has no entry for, only entries below, and placeholders for links to lower
// layers. No entry can have this time, and all file systems can store it.
var impliedTime = time.Unix(-1<<30, 0)

// finishDirs sets the attributes of directories, the deepest first.
func (u *unpacking) finishDirs() error {
	for p := range u.implied {
		if err := u.finishDir(p, attributes{mode: 0o755, modified: impliedTime}); err != nil {
			return &EntryError{p, err}
		}
	}
	for _, p := range slices.Backward(slices.Sorted(maps.Keys(u.dirs))) {
		if err := u.finishDir(p, u.dirs[p]); err != nil {
			return &EntryError{p, err}
		}
	}
	return nil
}

func (u *unpacking) finishDir(p string, a attributes) error {
	if p == "." {
		return a.apply(u.root.dir, ".", false)
	}
	// A later entry may have replaced the directory, or one above it.
	dir, err := u.root.existing(path.Dir(p))
	if err != nil || dir == nil {
		return err
	}
	defer dir.Close()
	name := path.Base(p)
	s, there, err := stat(dir, name)
	if err != nil || !there || !isDir(s) {
		return err
	}
	return a.apply(dir, name, false)
}
