package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/datadir"
	"github.com/stint-dev/stint/internal/userns"
)

const (
	imagesName   = "images.json"
	listLockName = imagesName + ".lock"
	workLockName = "lock"
	configsName  = "configs"
	layersName   = "layers"
	treesName    = "trees"
	workName     = "work"
)

// singleOwnerSuffix marks the directories of a user without subordinate IDs. All their files have one owner, so they cannot be
// used once the user has such IDs.
const singleOwnerSuffix = "-of-one-owner"

// filesName is the directory with the files of a layer or tree. It may belong to a user of the image; the one above it is ours.
const filesName = "files"

// Store is a directory of images.
type Store struct {
	dir      string
	expected expectedLayers
}

// kept returns the name of the directory of layers or trees that this user uses.
func kept(kind string) string {
	if hasOwners() {
		return kind
	}
	return kind + singleOwnerSuffix
}

// hasOwners reports whether files can have the owners that images name.
func hasOwners() bool { return os.Geteuid() == 0 || userns.Own().SingleIDReason == nil }

// Image is an image of the store.
type Image struct {
	// Name is the full name by which the image was requested: docker.io/library/perl:5.34.0.
	Name string `json:"name"`
	// ID is the digest of its config, Digest that of its manifest.
	ID     v1.Hash `json:"id"`
	Digest v1.Hash `json:"digest"`
	// Layers are the digests of its layers without compression, the lowest first.
	Layers []v1.Hash `json:"layers"`
	// Size is the number of bytes of its layers, compressed.
	Size    int64     `json:"size"`
	AddedAt time.Time `json:"addedAt"`
}

// DefaultDir returns the directory of the store of the user who runs this program.
func DefaultDir() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/lib/stint/images", nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "stint", "images"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no place for images: set HOME or XDG_DATA_HOME: %w", err)
	}
	return filepath.Join(home, ".local", "share", "stint", "images"), nil
}

// Open opens the store in dir, which is created if it is missing.
func Open(dir string) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// Other users who may write to the store could make this user run their files, so it is checked like a data directory.
	if _, err := datadir.Check(dir); err != nil {
		return nil, fmt.Errorf("open the image store (--image-dir selects another one): %w", err)
	}
	for _, name := range []string{"", configsName, kept(layersName), kept(treesName), workName} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return nil, fmt.Errorf("open the image store: %w", err)
		}
	}
	// Check again, as another user may have created what was missing meanwhile.
	if _, err := datadir.Check(dir); err != nil {
		return nil, fmt.Errorf("open the image store (--image-dir selects another one): %w", err)
	}
	return &Store{dir: dir}, nil
}

// Dir returns the store's directory.
func (s *Store) Dir() string { return s.dir }

// Work calls do with a directory for temporary files. It is not swept meanwhile.
func (s *Store) Work(do func(dir string) error) error {
	unlock, err := s.lock(workLockName, unix.LOCK_SH)
	if err != nil {
		return err
	}
	defer unlock()
	return do(s.path(workName))
}

func (s *Store) path(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}

// nameOf returns the name of a file or directory for a digest.
func nameOf(h v1.Hash) string { return h.Algorithm + "-" + h.Hex }

// List returns the images, sorted by name.
func (s *Store) List() ([]Image, error) {
	text, err := os.ReadFile(s.path(imagesName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var images []Image
	if err := json.Unmarshal(text, &images); err != nil {
		return nil, fmt.Errorf("%s: %w: remove the file, the images can be pulled again", s.path(imagesName), err)
	}
	return images, nil
}

// change changes the list of images. No other program can change it meanwhile.
func (s *Store) change(do func([]Image) ([]Image, error)) error {
	unlock, err := s.lock(listLockName, unix.LOCK_EX)
	if err != nil {
		return err
	}
	defer unlock()
	images, err := s.List()
	if err != nil {
		return err
	}
	if images, err = do(images); err != nil {
		return err
	}
	text, err := json.MarshalIndent(images, "", "\t")
	if err != nil {
		return err
	}
	return renameio.WriteFile(s.path(imagesName), text, 0o600)
}

// Get returns the image of a full name; ok is false if there is none.
func (s *Store) Get(name string) (image Image, ok bool, err error) {
	images, err := s.List()
	if err != nil {
		return Image{}, false, err
	}
	for _, i := range images {
		if i.Name == name {
			return i, s.isComplete(i), nil
		}
	}
	return Image{}, false, nil
}

// Version returns a value that changes whenever the list of images does.
func (s *Store) Version() (version [2]int64) {
	var stat unix.Stat_t
	if unix.Stat(s.path(imagesName), &stat) == nil {
		version = [2]int64{int64(stat.Ino), stat.Mtim.Nano()}
	}
	return version
}

// isComplete reports whether the image has its tree and its configuration.
func (s *Store) isComplete(i Image) bool {
	for _, path := range []string{s.Tree(i), s.configPath(i.ID)} {
		if _, err := os.Lstat(path); err != nil {
			return false
		}
	}
	return true
}

// Tree returns the directory of the image's files.
func (s *Store) Tree(i Image) string {
	return s.path(kept(treesName), nameOf(chainID(i.Layers)), filesName)
}

func (s *Store) layer(id v1.Hash) string { return s.path(kept(layersName), nameOf(id), filesName) }

func (s *Store) configPath(id v1.Hash) string { return s.path(configsName, nameOf(id)+".json") }

// Config returns the configuration of an image.
func (s *Store) Config(i Image) (*v1.ConfigFile, error) {
	text, err := os.ReadFile(s.configPath(i.ID))
	if err != nil {
		return nil, err
	}
	var c v1.ConfigFile
	return &c, json.Unmarshal(text, &c)
}

// chainID returns the chain ID of layers, as the OCI image specification defines it.
func chainID(layers []v1.Hash) v1.Hash {
	if len(layers) == 0 {
		return hashOf("")
	}
	id := layers[0]
	for _, l := range layers[1:] {
		id = hashOf(id.String() + " " + l.String())
	}
	return id
}

func hashOf(text string) v1.Hash {
	h, _, err := v1.SHA256(strings.NewReader(text))
	if err != nil {
		panic(err) // Reading a string does not fail.
	}
	return h
}
