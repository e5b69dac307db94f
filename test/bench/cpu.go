package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ticks is USER_HZ, which is 100 on every Linux that Go runs on.
const ticks = 100

// cpuTimes is the CPU time of a process, and of the children that it has waited for.
type cpuTimes struct{ own, children time.Duration }

// hostTimes are the CPU times of process hosts, by process id.
type hostTimes map[int]cpuTimes

// hostsOf are the process hosts of a server, and of others of the same program: a host stays some seconds after its server
// has ended.
func hostsOf(program string, server int) hostTimes {
	now := hostTimes{}
	for _, pid := range running(program) {
		if t, ok := timesOf(pid); ok && pid != server {
			now[pid] = t
		}
	}
	return now
}

// since is what the hosts have used since before, and what their commands have. A host that is gone counts for nothing: it
// was idle, as it belonged to a server that had ended earlier.
func (now hostTimes) since(before hostTimes) (host, commands time.Duration) {
	for pid, t := range now {
		host += t.own - before[pid].own
		commands += t.children - before[pid].children
	}
	return host, commands
}

// ownCPU is the CPU time of this process and of the children it has waited for.
func ownCPU() time.Duration { return usage(unix.RUSAGE_SELF) + usage(unix.RUSAGE_CHILDREN) }

func usage(who int) time.Duration {
	var u unix.Rusage
	if unix.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// running lists the processes that run a program. A process host executes it by a mount of its own, so the path does not say.
func running(program string) []int {
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	file, statErr := os.Stat(program)
	if err != nil || statErr != nil {
		return nil
	}
	var pids []int
	for _, link := range links {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		if executed, e := os.Stat(link); err == nil && e == nil && os.SameFile(file, executed) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// cpuOf is what a process and the children it has waited for have used.
func cpuOf(pid int) time.Duration {
	t, _ := timesOf(pid)
	return t.own + t.children
}

// timesOf reads the CPU times of a process. It reports false where there is no such process.
func timesOf(pid int) (cpuTimes, bool) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return cpuTimes{}, false
	}
	_, rest, ok := strings.Cut(string(stat), ") ") // the name before it may hold anything
	fields := strings.Fields(rest)
	if !ok || len(fields) < 15 {
		return cpuTimes{}, false
	}
	var t [4]time.Duration // utime, stime, cutime, cstime
	for i, field := range fields[11:15] {
		n, err := strconv.Atoi(field)
		if err != nil {
			return cpuTimes{}, false
		}
		t[i] = time.Duration(n) * time.Second / ticks
	}
	return cpuTimes{own: t[0] + t[1], children: t[2] + t[3]}, true
}
