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

// cpuUsed is the CPU time of this process, of the children it has waited for, and of the process hosts it started.
func cpuUsed() time.Duration {
	total := usage(unix.RUSAGE_SELF) + usage(unix.RUSAGE_CHILDREN)
	for _, pid := range sameProgram() {
		total += cpuOf(pid)
	}
	return total
}

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

// cpuOf reads what a process and the children it has waited for have used.
func cpuOf(pid int) time.Duration {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	_, rest, ok := strings.Cut(string(stat), ") ") // the name before it may hold anything
	fields := strings.Fields(rest)
	if !ok || len(fields) < 15 {
		return 0
	}
	sum := 0
	for _, field := range fields[11:15] { // utime, stime, cutime, cstime
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0
		}
		sum += n
	}
	return time.Duration(sum) * time.Second / ticks
}
