package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// entry is what was seen of a directory, a link to one, or a file.
type entry struct {
	path string
	role role
	uid  int
	gid  int
	mode uint32 // as in stat(2)
	// renewable is what the next server makes anew where it is missing.
	renewable bool
}

// role is what an entry is to the data directory.
type role int

const (
	above  role = iota // a directory above it, or a link on the way
	itself             // the data directory
	folder             // one of its folders
	secret             // a file with a key
	file               // anything else that Stint keeps and reads
)

// maxLinks is how many symbolic links are followed, as many as the kernel follows.
const maxLinks = 40

// secrets are the files that let others in.
var secrets = []string{
	Kubeconfig, filepath.Join(PKI, "ca.key"), filepath.Join(PKI, "server.key"), filepath.Join(PKI, "admin.key"), filepath.Join(PKI, "token"),
}

// files are what Stint keeps beside its folders and the kubeconfig.
var files = []string{"lock", "node-name", "process-runtime"}

// scan sees every directory on the way to path, the links that lead there, and what Stint keeps in it.
func scan(path string) ([]entry, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	seen, end, err := walk(path)
	if err != nil || end == "" {
		return seen, err
	}
	seen[len(seen)-1].role = itself
	for _, name := range append([]string{Logs, Pods, Kubeconfig}, files...) {
		if seen, err = addKept(seen, end, name); err != nil {
			return seen, err
		}
	}
	for _, name := range []string{PKI, Etcd} {
		if seen, err = addTree(seen, end, name); err != nil {
			return seen, err
		}
	}
	return seen, nil
}

// addKept adds what lies at name in the data directory, if anything does.
func addKept(seen []entry, dataDir, name string) ([]entry, error) {
	before := len(seen)
	seen, err := add(seen, filepath.Join(dataDir, name), roleOf(name))
	for i := before; i < len(seen); i++ {
		seen[i].renewable = name == Kubeconfig || strings.Split(name, "/")[0] == PKI
	}
	return seen, err
}

// roleOf is that of what lies at name in the data directory.
func roleOf(name string) role {
	switch {
	case slices.Contains([]string{Etcd, Logs, PKI, Pods}, name):
		return folder
	case slices.Contains(secrets, name):
		return secret
	}
	return file
}

// addTree adds a folder of the data directory with all that is in it. A running server may remove files meanwhile.
func addTree(seen []entry, dataDir, name string) ([]entry, error) {
	err := filepath.WalkDir(filepath.Join(dataDir, name), func(path string, _ fs.DirEntry, err error) error {
		relative, outside := filepath.Rel(dataDir, path)
		if err = errors.Join(err, outside); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			seen, err = addKept(seen, dataDir, relative)
		}
		return err
	})
	return seen, err
}

// walk goes from the root to path, element by element. The end is where it leads, or empty if it does not exist.
func walk(path string) (seen []entry, end string, err error) {
	here, names, links := "/", strings.Split(path, "/"), 0
	if seen, err = add(nil, here, above); err != nil {
		return nil, "", err
	}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		if name == "" || name == "." {
			continue
		}
		next := filepath.Join(here, name)
		before := len(seen)
		if seen, err = add(seen, next, above); err != nil {
			return seen, "", err
		}
		if len(seen) == before {
			return seen, "", nil
		}
		if seen[before].mode&unix.S_IFMT != unix.S_IFLNK {
			here = next
			continue
		}
		if links++; links > maxLinks {
			return nil, "", &os.PathError{Op: "open", Path: path, Err: unix.ELOOP}
		}
		target, err := os.Readlink(next)
		if err != nil {
			return nil, "", err
		}
		if filepath.IsAbs(target) {
			here = "/"
		}
		names = append(strings.Split(target, "/"), names...)
	}
	return seen, here, nil
}

// add adds what is at path, if anything is.
func add(seen []entry, path string, r role) ([]entry, error) {
	var stat unix.Stat_t
	err := unix.Lstat(path, &stat)
	if errors.Is(err, fs.ErrNotExist) {
		return seen, nil
	}
	if err != nil {
		return seen, fmt.Errorf("look at the data directory: %w", &os.PathError{Op: "lstat", Path: path, Err: err})
	}
	return append(seen, entry{path: path, role: r, uid: int(stat.Uid), gid: int(stat.Gid), mode: stat.Mode}), nil
}

// self is what of this process matters to the judgement.
type self struct {
	uid int
	// ownGroup is a group that this user has for itself, as many systems make them, or -1.
	ownGroup int
	// unmapped is the user as whom files of users appear that this user namespace does not know, or -1.
	unmapped int
}

func me() self {
	s := self{uid: os.Geteuid(), ownGroup: -1, unmapped: -1}
	if u, err := user.LookupId(strconv.Itoa(s.uid)); err == nil {
		if g, err := user.LookupGroup(u.Username); err == nil {
			if gid, err := strconv.Atoi(g.Gid); err == nil {
				s.ownGroup = gid
			}
		}
	}
	if ids, err := os.ReadFile("/proc/self/uid_map"); err == nil && !mapsAll(string(ids)) {
		s.unmapped = overflowUser()
	}
	return s
}

// mapsAll reports whether a uid_map knows every user, as the first user namespace does.
func mapsAll(uidMap string) bool {
	fields := strings.Fields(uidMap)
	return len(fields) == 3 && fields[0] == "0" && fields[1] == "0" && fields[2] == "4294967295"
}

func overflowUser() int {
	text, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if uid, bad := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bad == nil {
		return uid
	}
	return 65534
}
