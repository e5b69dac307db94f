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

// entry has owner and mode of a directory, a link, or a file.
type entry struct {
	path string
	role role
	uid  int
	gid  int
	mode uint32 // as in stat(2)
	// renewable is set if the next server creates it again when it is missing.
	renewable bool
}

// role says how an entry belongs to the data directory.
type role int

const (
	above  role = iota // a parent directory, or a link in the path
	itself             // the data directory
	folder             // one of its folders
	secret             // a file with a key
	file               // anything else that Stint keeps and reads
)

// maxLinks is how many symbolic links are followed, as many as the kernel follows.
const maxLinks = 40

// secrets are files with keys or credentials.
var secrets = []string{
	Kubeconfig, filepath.Join(PKI, "ca.key"), filepath.Join(PKI, "server.key"), filepath.Join(PKI, "admin.key"), filepath.Join(PKI, "token"),
}

// files are Stint's files beside the folders and the kubeconfig.
var files = []string{"lock", "server.lock", "node-name", "process-runtime"}

// scan returns the entries of all directories and links in path, and of Stint's files in the data directory.
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
	for _, name := range append([]string{Logs, Pods, PersistentVolumes, Kubeconfig}, files...) {
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

// addKept adds the entry of a name in the data directory, if it exists.
func addKept(seen []entry, dataDir, name string) ([]entry, error) {
	before := len(seen)
	seen, err := add(seen, filepath.Join(dataDir, name), roleOf(name))
	for i := before; i < len(seen); i++ {
		seen[i].renewable = name == Kubeconfig || strings.Split(name, "/")[0] == PKI
	}
	return seen, err
}

// roleOf returns the role of a name in the data directory.
func roleOf(name string) role {
	switch {
	case slices.Contains([]string{Etcd, Logs, PKI, Pods, PersistentVolumes}, name):
		return folder
	case slices.Contains(secrets, name):
		return secret
	}
	return file
}

// addTree adds a folder of the data directory recursively. A running server may remove files meanwhile.
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

// walk goes from the root to path, element by element. end is path with all links resolved, or empty if it does not exist.
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

// add adds the entry of path, if it exists.
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

// self is the user of this process.
type self struct {
	uid int
	// ownGroup is the private group of this user, which has the user's name, or -1.
	ownGroup int
	// unmapped is the user id that files of unmapped users have in this user namespace, or -1 if all users are mapped.
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

// mapsAll reports whether a uid_map maps every user, as that of the initial user namespace does.
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
