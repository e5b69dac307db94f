package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// memory is the memory of a process, in megabytes (of 10⁶ bytes).
type memory struct {
	resident float64
	// anonymous is the part that is not pages of the program file, which all its processes share.
	anonymous float64
}

func memoryOf(pid int) memory {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return memory{}
	}
	var m memory
	for line := range strings.Lines(string(status)) {
		name, kB, _ := strings.Cut(line, ":")
		n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(kB), " kB"), 64)
		switch {
		case err != nil:
		case name == "VmRSS":
			m.resident = n * 1024 / 1e6
		case name == "RssAnon":
			m.anonymous = n * 1024 / 1e6
		}
	}
	return m
}
