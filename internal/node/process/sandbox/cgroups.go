package sandbox

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// hierarchy is one mounted cgroup tree and this process's place in it.
type hierarchy struct {
	v2 bool
	// controllers are the version 1 controllers of the tree, name is the name of the directory that it is mounted at.
	controllers []string
	name        string
	// home is the directory of the cgroup that this process is in.
	home string
}

// hierarchies lists the mounted cgroup trees, of both versions.
func hierarchies() ([]hierarchy, error) {
	places, err := ownCgroups()
	if err != nil {
		return nil, err
	}
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer mounts.Close()
	var found []hierarchy
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		if h, ok := parseMount(lines.Text(), places); ok {
			found = append(found, h)
		}
	}
	return found, nil
}

// parseMount reads a line of mountinfo: "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw".
func parseMount(line string, places map[string]string) (hierarchy, bool) {
	left, right, ok := strings.Cut(line, " - ")
	where, what := strings.Fields(left), strings.Fields(right)
	if !ok || len(where) < 5 || len(what) < 3 {
		return hierarchy{}, false
	}
	h := hierarchy{name: filepath.Base(where[4])}
	key := ""
	switch what[0] {
	case "cgroup2":
		h.v2 = true
	case "cgroup":
		// The options of the mount hold other words too.
		for _, word := range strings.Split(what[2], ",") {
			if _, known := places[word]; known && word != "" {
				h.controllers = append(h.controllers, word)
				key = word
			}
		}
		if key == "" {
			return hierarchy{}, false
		}
	default:
		return hierarchy{}, false
	}
	// Where only a part of the tree is mounted, the path is relative to that part.
	place := strings.TrimPrefix(places[key], strings.TrimSuffix(where[3], "/"))
	h.home = filepath.Join(where[4], place)
	return h, true
}

// ownCgroups maps a version 1 controller to this process's path in its tree; "" is version 2.
func ownCgroups() (map[string]string, error) {
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	places := map[string]string{}
	for line := range strings.Lines(string(data)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, controller := range strings.Split(parts[1], ",") {
			places[controller] = parts[2]
		}
	}
	return places, nil
}

// setFile writes to a file of the kernel's. An os.File would try to add it to the poller, which takes five system calls.
func setFile(dir, name, value string) error {
	path := filepath.Join(dir, name)
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	for {
		_, err = unix.Write(fd, []byte(value))
		if err == nil {
			return nil
		}
		if err != unix.EINTR {
			return &os.PathError{Op: "write", Path: path, Err: err}
		}
	}
}
