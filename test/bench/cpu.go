package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ticks is USER_HZ, which is 100 on every Linux that Go runs on.
const ticks = 100

// hostCPU is the CPU time of the process hosts that this process started, and of the commands that they have waited for.
func hostCPU() (host, commands time.Duration) {
	for _, pid := range sameProgram() {
		own, children := timesOf(pid)
		host, commands = host+own, commands+children
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

// sameProgram lists the other processes that run this program: the process hosts.
func sameProgram() []int {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(running(self), func(pid int) bool { return pid == os.Getpid() })
}

// running lists the processes that run a program.
func running(program string) []int {
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		return nil
	}
	var pids []int
	for _, link := range links {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		if target, e := os.Readlink(link); err == nil && e == nil && target == program {
			pids = append(pids, pid)
		}
	}
	return pids
}

// cpuOf is what a process and the children it has waited for have used.
func cpuOf(pid int) time.Duration {
	own, children := timesOf(pid)
	return own + children
}

// timesOf reads what a process has used, and what the children have that it has waited for.
func timesOf(pid int) (own, children time.Duration) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, 0
	}
	_, rest, ok := strings.Cut(string(stat), ") ") // the name before it may hold anything
	fields := strings.Fields(rest)
	if !ok || len(fields) < 15 {
		return 0, 0
	}
	var t [4]time.Duration // utime, stime, cutime, cstime
	for i, field := range fields[11:15] {
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, 0
		}
		t[i] = time.Duration(n) * time.Second / ticks
	}
	return t[0] + t[1], t[2] + t[3]
}
