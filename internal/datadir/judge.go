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

// judge decides on what was seen of the data directory dir.
func judge(dir string, me self, seen []entry) (warnings []string, err error) {
	for _, e := range seen {
		warning, err := judgeOne(dir, me, e)
		if err != nil {
			return nil, err
		}
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	return warnings, nil
}

func judgeOne(dir string, me self, e entry) (warning string, err error) {
	// An owner whom this user namespace does not know cannot be judged from here.
	if e.uid != me.uid && e.uid != 0 && e.uid != me.unmapped {
		return "", foreign(dir, me, e)
	}
	if e.mode&unix.S_IFMT == unix.S_IFLNK {
		return "", judgeLink(e)
	}
	if e.role == secret {
		return "", judgeSecret(dir, e)
	}
	return judgeWriters(me, e)
}

func judgeLink(e entry) error {
	switch e.role {
	case secret:
		return fmt.Errorf("%s is a symbolic link, and Stint makes none: remove it", e.path)
	case folder:
		return fmt.Errorf("%s is a symbolic link, and Stint makes none: put the whole data directory elsewhere with --data-dir", e.path)
	}
	return nil
}

func judgeSecret(dir string, e entry) error {
	if e.mode&0o077 == 0 {
		return nil
	}
	return fmt.Errorf("%s is open to other users (mode %04o), who may have read it, and whoever has may run programs as this user: "+
		"remove %[3]s/pki and %[3]s/kubeconfig to have new keys made, or: chmod 600 %[1]s", e.path, e.mode&0o7777, dir)
}

func judgeWriters(me self, e entry) (warning string, err error) {
	// In a sticky directory all keep their own.
	shared := e.mode&sticky != 0
	if e.mode&othersWrite != 0 && (e.role != above || !shared) {
		return "", fmt.Errorf("any user may write to %s (mode %04o), and so run programs as this user: chmod %s %[1]s, or choose another data directory with --data-dir",
			e.path, e.mode&0o7777, remedy(e.role))
	}
	if e.mode&groupWrites != 0 && !shared && e.gid != me.ownGroup && e.gid != 0 {
		return fmt.Sprintf("the members of group %d may write to %s, and so run programs as this user: chmod g-w %[2]s, unless they are trusted as much",
			e.gid, e.path), nil
	}
	return "", nil
}

func remedy(r role) string {
	if r == above {
		return "o-w"
	}
	return "700"
}

func foreign(dir string, me self, e entry) error {
	help := fmt.Sprintf("or: chown -R %d %s", me.uid, dir)
	if e.role == above {
		help = "for a directory of another user's is no place for it (with sudo, use sudo -H)"
	}
	return fmt.Errorf("%s belongs to user %d, who could run programs as user %d through what is in %s: choose another data directory with --data-dir, %s",
		e.path, e.uid, me.uid, dir, help)
}
