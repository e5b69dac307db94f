package runtime

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The realtime signals that programs have, as the C library counts them.
const (
	firstRealtime = 34
	lastRealtime  = 64
)

// aliases are names of signals that have another one too.
var aliases = map[string]unix.Signal{"SIGCLD": unix.SIGCHLD, "SIGIOT": unix.SIGABRT, "SIGPOLL": unix.SIGIO}

// SignalNumber returns the number of a signal by its name: SIGTERM, SIGRTMIN+3, SIGRTMAX-1.
func SignalNumber(name string) (number int32, known bool) {
	if n := max(unix.SignalNum(name), aliases[name]); n != 0 {
		return int32(n), true
	}
	base, offset := int64(firstRealtime), strings.TrimPrefix(name, "SIGRTMIN")
	if rest, ok := strings.CutPrefix(name, "SIGRTMAX"); ok {
		base, offset = lastRealtime, rest
	}
	switch {
	case offset == name:
		return 0, false
	case offset == "":
		return int32(base), true
	case (offset[0] == '+') != (base == firstRealtime):
		return 0, false
	}
	n, err := strconv.ParseInt(offset, 10, 8)
	if n += base; err != nil || n == base || n < firstRealtime || n > lastRealtime {
		return 0, false
	}
	return int32(n), true
}
