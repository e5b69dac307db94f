package memory

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// DropStartup drops the resident pages of the program file. More than half of an idle server's resident memory is needed only at
// the start, as initialising its packages touches most of a large program once. The pages are clean copies of the file, and are
// read again when they are needed.
func DropStartup() {
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close()
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	var m mapping
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 6 && strings.Contains(fields[0], "-"):
			m = parseMapping(fields, program)
		case fields[0] == "Anonymous:" && fields[1] == "0":
			m.drop()
		}
	}
}

// mapping is a part of the address space; length 0 means that it is kept.
type mapping struct{ start, length uintptr }

// parseMapping returns the mapping if its pages can be read again from the file, which is true for private read-only mappings
// of the program.
func parseMapping(fields []string, program string) mapping {
	readOnly := fields[1] == "r--p" || fields[1] == "r-xp"
	from, to, _ := strings.Cut(fields[0], "-")
	start, err1 := strconv.ParseUint(from, 16, 64)
	end, err2 := strconv.ParseUint(to, 16, 64)
	if fields[5] != program || !readOnly || err1 != nil || err2 != nil {
		return mapping{}
	}
	return mapping{uintptr(start), uintptr(end - start)}
}

func (m mapping) drop() {
	if m.length == 0 {
		return
	}
	// If it fails, the pages stay resident.
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.length, unix.MADV_DONTNEED)
}
