package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// adopted lists the children of this process's first thread: the kernel gives orphans to that one.
func adopted() []int {
	pid := os.Getpid()
	return childrenOfThread(pid, strconv.Itoa(pid))
}

// childrenOf lists the direct children of all threads of a process.
func childrenOf(pid int) []int {
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	var pids []int
	for _, thread := range threads {
		pids = append(pids, childrenOfThread(pid, thread.Name())...)
	}
	return pids
}

func childrenOfThread(pid int, thread string) []int {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, thread))
	var pids []int
	for _, field := range strings.Fields(string(data)) {
		if child, err := strconv.Atoi(field); err == nil {
			pids = append(pids, child)
		}
	}
	return pids
}

// descendants lists pid and all that came of it, parents first.
func descendants(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		all = append(all, childrenOf(all[i])...)
	}
	return all
}

// stat returns the fields of /proc/<pid>/stat from the state on.
func stat(pid int) []string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The name in front may hold anything, brackets too.
	at := bytes.LastIndexByte(data, ')')
	return strings.Fields(string(data[at+1:]))
}

func isZombie(pid int) bool {
	fields := stat(pid)
	return len(fields) == 0 || fields[0] == "Z" || fields[0] == "X"
}

func sessionOf(pid int) int {
	fields := stat(pid)
	if len(fields) < 4 {
		return 0
	}
	session, _ := strconv.Atoi(fields[3])
	return session
}

func hasMark(pid int, marks map[string]bool) bool {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	for variable := range bytes.SplitSeq(data, []byte{0}) {
		if bytes.HasPrefix(variable, []byte(markVariable+"=")) && marks[string(variable)] {
			return true
		}
	}
	return false
}

// sweepMarked kills all processes of this machine that carry one of the marks.
func sweepMarked(marks map[string]bool) {
	if len(marks) == 0 {
		return
	}
	pause := patience{limit: leafGrace}
	for found := true; found; found = found && pause.next() {
		found = false
		entries, _ := os.ReadDir("/proc")
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil || !hasMark(pid, marks) {
				continue
			}
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				continue
			}
			// Checked again on the pidfd's process: the number may have changed hands.
			if hasMark(pid, marks) && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil {
				found = true
			}
			unix.Close(fd)
		}
	}
}
