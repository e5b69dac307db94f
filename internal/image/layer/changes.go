package layer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	"golang.org/x/sys/unix"
)

// The entries of a layer's directory.
const (
	treeName    = "tree"
	changesName = "changes.json"
)

// changes is how a layer changes the layers below it.
type changes struct {
	// Removed are files and directories of lower layers that the layer removes; Opaque, directories whose content it removes.
	Removed []entryName `json:"removed,omitempty"`
	Opaque  []entryName `json:"opaque,omitempty"`
	// Links are hard links to files of lower layers.
	Links []link `json:"links,omitempty"`
}

type link struct {
	Path   entryName `json:"path"`
	Target entryName `json:"target"`
}

// entryName is a path. Paths may have any bytes, but JSON is text, so they are escaped as in a URL.
type entryName string

// MarshalText implements encoding.TextMarshaler.
func (n entryName) MarshalText() ([]byte, error) {
	return []byte((&url.URL{Path: string(n)}).EscapedPath()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *entryName) UnmarshalText(text []byte) error {
	p, err := url.PathUnescape(string(text))
	*n = entryName(p)
	return err
}

func (c changes) write(dir *os.File) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	f, err := createFile(int(dir.Fd()), changesName)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

func readChanges(dir *os.File) (changes, error) {
	var c changes
	fd, err := unix.Openat(int(dir.Fd()), changesName, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return c, fmt.Errorf("the layer %s was not unpacked completely: %w", dir.Name(), err)
	}
	f := os.NewFile(uintptr(fd), changesName)
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(text, &c)
}
