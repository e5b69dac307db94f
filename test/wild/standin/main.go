// Command standin is what containers run in the images of test/wild: it reports how it was started.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stint-dev/stint/test/wild/report"
)

// maxFiles is how many files of a mount are listed at most.
const maxFiles = 50

func main() {
	s := report.Started{Args: os.Args, Env: os.Environ(), UID: os.Getuid(), GID: os.Getgid(), Mounts: map[string][]string{}}
	s.Groups, _ = os.Getgroups()
	s.Dir, _ = os.Getwd()
	s.Host, _ = os.Hostname()
	for _, path := range mountPoints() {
		s.Mounts[path] = filesIn(path)
	}
	text, err := json.Marshal(s)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%s%s\n", report.Prefix, text)
}

func mountPoints() []string {
	text, _ := os.ReadFile("/proc/self/mountinfo")
	var points []string
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 4 && !isMachines(fields[4]) {
			points = append(points, fields[4])
		}
	}
	return points
}

// isMachines reports whether a mount is one that every container has.
func isMachines(path string) bool {
	for _, own := range []string{"/proc", "/sys"} {
		if path == own || strings.HasPrefix(path, own+"/") {
			return true
		}
	}
	return path == "/"
}

// filesIn lists the files of a directory that can be read.
func filesIn(path string) []string {
	found := []string{}
	entries, err := os.ReadDir(path)
	if err != nil {
		return found
	}
	for _, e := range entries[:min(len(entries), maxFiles)] {
		f, err := os.Open(filepath.Join(path, e.Name()))
		if err == nil {
			f.Close()
			found = append(found, e.Name())
		}
	}
	return found
}
