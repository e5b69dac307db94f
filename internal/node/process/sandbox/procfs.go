package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func procDir(pid int) string { return "/proc/" + strconv.Itoa(pid) }

// childrenOf lists the direct children of all threads of a process.
func childrenOf(pid int) []int {
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	var pids []int
	for _, thread := range threads {
		data, _ := os.ReadFile(childrenFile(pid, thread.Name()))
		pids = append(pids, parsePIDs(data)...)
	}
	return pids
}

// childrenFile is the file that lists the children of a thread.
func childrenFile(pid int, thread string) string {
	return fmt.Sprintf("/proc/%d/task/%s/children", pid, thread)
}

func parsePIDs(data []byte) []int {
	var pids []int
	for _, field := range strings.Fields(string(data)) {
		if child, err := strconv.Atoi(field); err == nil {
			pids = append(pids, child)
		}
	}
	return pids
}

// descendants lists pid and all its descendants, parents first.
func descendants(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		all = append(all, childrenOf(all[i])...)
	}
	return all
}

// identity is a process for ever: its pid may be that of another one later, which has started later.
type identity struct {
	pid   int
	start string
}

// below lists the descendants of a process, parents first. Is reports whether its pid has been its own up to now.
func below(pid int, is func() bool) []identity {
	all := identitiesBelow(pid)
	if !is() {
		return nil
	}
	for i := 0; i < len(all); i++ {
		if children := identitiesBelow(all[i].pid); all[i].isThere() {
			all = append(all, children...)
		}
	}
	return all
}

// identitiesBelow returns the children of a process.
func identitiesBelow(pid int) (children []identity) {
	for _, child := range childrenOf(pid) {
		if s := statOf(child); s.parent == pid {
			children = append(children, identity{child, s.start})
		}
	}
	return children
}

func (i identity) isThere() bool { return statOf(i.pid).start == i.start }

func killAll(all []identity) {
	for _, i := range all {
		killIf(i.pid, i.isThere)
	}
}

// killIf kills the process that has the pid if is reports that it is the right one.
func killIf(pid int, is func() bool) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	// Only now that the descriptor holds the process: before, the pid may have been that of another one.
	if is() {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}

// stat is a part of /proc/<pid>/stat.
type stat struct {
	// dead means that the process is a zombie or reaped: its children have another parent.
	dead            bool
	parent, session int
	// start is when it was started, in hundredths of a second since the machine was.
	start string
	// ticks is the CPU time of the process and of its children that it has waited for, in hundredths of a second.
	ticks int64
	// ending means that the process exits, so it may have no environment any more. noEnviron means that it has none yet,
	// or that this process may not read it; hasEnviron that it has variables.
	ending, noEnviron, hasEnviron bool
}

func statOf(pid int) stat {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return parseStat(data)
}

// parseStat parses the fields of proc(5), of which the first three are the pid, the name and the state.
func parseStat(line []byte) stat {
	// The name may contain anything, also brackets.
	fields := strings.Fields(string(line[bytes.LastIndexByte(line, ')')+1:]))
	field := func(n int) string {
		if n -= 3; n < len(fields) {
			return fields[n]
		}
		return ""
	}
	var s stat
	state := field(3)
	s.dead = state == "" || state == "Z" || state == "X"
	s.parent, _ = strconv.Atoi(field(4))
	s.session, _ = strconv.Atoi(field(6))
	s.start = field(22)
	for _, n := range []int{14, 15, 16, 17} {
		ticks, _ := strconv.ParseInt(field(n), 10, 64)
		s.ticks += ticks
	}
	flags, _ := strconv.ParseUint(field(9), 10, 32)
	const exiting = 4
	s.ending = flags&exiting != 0
	const environStart, environEnd = 50, 51
	s.noEnviron = field(environEnd) == "0"
	s.hasEnviron = !s.noEnviron && field(environStart) != field(environEnd)
	return s
}

// environ is a process's environment.
type environ struct {
	data []byte
	err  error
}

func environOf(pid int) environ {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return environ{data, err}
}

// environAndStat reads both. A process that was being loaded while its environment was read, and no longer while its state was,
// would seem to have no variables: it is read again.
func environAndStat(pid int) (e environ, s stat) {
	for range 5 {
		e, s = environOf(pid), statOf(pid)
		if len(e.data) > 0 || e.err != nil || !s.hasEnviron {
			break
		}
	}
	return e, s
}

// has reports whether one of the marks is in it.
func (e environ) has(marks map[string]bool) bool {
	for variable := range bytes.SplitSeq(e.data, []byte{0}) {
		if bytes.HasPrefix(variable, []byte(markVariable+"=")) && marks[string(variable)] {
			return true
		}
	}
	return false
}

// isMissing reports whether the process has no environment at this moment, because it exits or is being loaded. A process
// whose environment may not be read is not meant: that does not change.
func (e environ) isMissing(s stat) bool {
	hidden := errors.Is(e.err, fs.ErrPermission)
	return len(e.data) == 0 && (s.ending || s.noEnviron && !hidden)
}

// sweepMarked kills all processes of this machine that carry one of the marks.
func sweepMarked(marks map[string]bool) {
	if len(marks) == 0 {
		return
	}
	pause := killWait{limit: killTimeout}
	for found := true; found; found = found && pause.next() {
		found = false
		entries, _ := os.ReadDir("/proc")
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err == nil && environOf(pid).has(marks) {
				found = true
				killIf(pid, func() bool { return environOf(pid).has(marks) })
			}
		}
	}
}
