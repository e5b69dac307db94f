package layer

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// link makes p a hard link to target. If target is in a lower layer, the link is made when the layers are merged; until then
// there is a placeholder at p, which later entries can replace.
func (u *unpacking) link(p, target string) error {
	t, err := clean(target)
	if err != nil {
		return fmt.Errorf("its target %q: %w", target, err)
	}
	if t == p {
		return nil // tar writes this for a file that it was given twice.
	}
	found, err := u.root.link(p, t)
	switch {
	case err != nil || found:
		return err
	case u.leftOut[t]:
		return u.leaveOut(p)
	}
	u.rememberChange(p, t)
	u.changes.Links = append(u.changes.Links, link{Path: entryName(p), Target: entryName(t)})
	return u.file(p, attributes{modified: impliedTime}, strings.NewReader(""))
}

// isPlaceholder reports whether a file of a layer is a placeholder for a link to a lower layer.
func isPlaceholder(s unix.Stat_t) bool { return !isDir(s) && s.Mtim.Sec == impliedTime.Unix() }

// finishLinks removes the placeholders, and drops the links whose placeholder was replaced.
func (u *unpacking) finishLinks() error {
	var kept []link
	for _, l := range slices.Backward(u.changes.Links) {
		stoodFor, err := u.removePlaceholder(string(l.Path))
		if err != nil {
			return &EntryError{string(l.Path), err}
		}
		if stoodFor {
			kept = append(kept, l)
		}
	}
	slices.Reverse(kept)
	u.changes.Links = kept
	return nil
}

func (u *unpacking) removePlaceholder(p string) (wasThere bool, err error) {
	dir, err := u.root.existing(path.Dir(p))
	if err != nil || dir == nil {
		return false, err
	}
	defer dir.Close()
	s, there, err := stat(dir, path.Base(p))
	if err != nil || !there || !isPlaceholder(s) {
		return false, err
	}
	return true, unix.Unlinkat(int(dir.Fd()), path.Base(p), 0)
}

// link makes p a hard link to target. It returns false if there is no target.
func (r *root) link(p, target string) (bool, error) {
	from, err := r.existing(path.Dir(target))
	if err != nil || from == nil {
		return false, err
	}
	defer from.Close()
	name := path.Base(target)
	s, there, err := stat(from, name)
	switch {
	case err != nil || !there || isPlaceholder(s):
		return false, err
	case isDir(s):
		return false, fmt.Errorf("its target %q is a directory", target)
	}
	dir, to, err := r.parent(p)
	if err != nil {
		return false, err
	}
	if same, err := isSame(dir, to, s); same || err != nil {
		return same, err
	}
	return true, keepTime(dir, func() error {
		if err := r.removeExisting(dir, to); err != nil {
			return err
		}
		return r.put(from, name, dir, to, p)
	})
}

func linkat(from *os.File, name string, to *os.File, as string) error {
	return unix.Linkat(int(from.Fd()), name, int(to.Fd()), as, 0)
}

// isSame reports whether name in dir is already the file whose status is s.
func isSame(dir *os.File, name string, s unix.Stat_t) (bool, error) {
	there, ok, err := stat(dir, name)
	return ok && there.Dev == s.Dev && there.Ino == s.Ino, err
}
