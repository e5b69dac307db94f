package datadir

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	groupWrites = 0o020
	othersWrite = 0o002
	sticky      = unix.S_ISVTX
)

// check decides whether the data directory can be trusted, from what scan has found.
func check(dir string, me self, seen []entry) (warnings []string, err error) {
	for _, e := range seen {
		warning, err := checkEntry(dir, me, e)
		if err != nil {
			return nil, err
		}
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	return warnings, nil
}

func checkEntry(dir string, me self, e entry) (warning string, err error) {
	// The owner of a parent directory may not be mapped in this user namespace. Such a parent is accepted.
	if e.uid != me.uid && e.uid != 0 && !(e.role == above && e.uid == me.unmapped) {
		return "", ownerError(dir, me, e)
	}
	switch kind := e.mode & unix.S_IFMT; {
	case kind == unix.S_IFLNK && e.role == above:
		return "", nil
	case kind != unix.S_IFREG && kind != unix.S_IFDIR:
		return "", unusualFileError(dir, e)
	case e.role == secret:
		return "", checkSecret(dir, e)
	}
	return checkWriters(me, e)
}

func unusualFileError(dir string, e entry) error {
	return fmt.Errorf("%s is %s, and Stint makes none: %s", e.path, noun(e.mode), remedy(dir, e, ", or move this one away"))
}

// noun names a file type other than regular file and directory.
func noun(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return "a symbolic link"
	case unix.S_IFIFO:
		return "a FIFO"
	case unix.S_IFSOCK:
		return "a socket"
	}
	return "a device"
}

func checkSecret(dir string, e entry) error {
	if e.mode&0o077 == 0 {
		return nil
	}
	return fmt.Errorf("%s is open to other users (mode %04o), who may have read it, and with it may run programs as this user: "+
		"%s, or, if no other user can have read it, chmod 600 %[1]s", e.path, e.mode&0o7777, newKeys(dir))
}

func checkWriters(me self, e entry) (warning string, err error) {
	// In a sticky directory users cannot remove files of others.
	shared := e.mode&sticky != 0
	if e.mode&othersWrite != 0 && (e.role != above || !shared) {
		return "", fmt.Errorf("any user may write to %s (mode %04o), and so run programs as this user: %s, or, if no other user has written there, chmod o-w %[1]s",
			e.path, e.mode&0o7777, elsewhere)
	}
	if e.mode&groupWrites != 0 && !shared && e.gid != me.ownGroup && e.gid != 0 {
		return fmt.Sprintf("the members of group %d may write to %s, and so run programs as this user: chmod g-w %[2]s, unless they are trusted as much",
			e.gid, e.path), nil
	}
	return "", nil
}

func ownerError(dir string, me self, e entry) error {
	return fmt.Errorf("%s belongs to user %d, who could run programs as user %d through what is in %s: %s",
		e.path, e.uid, me.uid, dir, remedy(dir, e, ", or move this one away (a new owner would not make what it holds trustworthy)"))
}

// elsewhere is the remedy that always works.
const elsewhere = "choose another data directory, with --data-dir or STINT_DATA_DIR"

// remedy never advises to change the owner, as files that another user has written would be trusted from then on. It adds or
// for an entry of the data directory itself.
func remedy(dir string, e entry, or string) string {
	switch {
	case e.role == above:
		return elsewhere
	case e.renewable:
		return newKeys(dir)
	}
	return elsewhere + or
}

func newKeys(dir string) string {
	return fmt.Sprintf("remove %[1]s/pki and %[1]s/kubeconfig, and the next server makes new ones", dir)
}
