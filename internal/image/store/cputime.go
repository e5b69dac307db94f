package store

import (
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/filesystem"
)

// The CPU time of a child that reads what others have made: firstSeconds, and a second for each bytesPerSecond that it writes.
// Even a slow machine needs a fraction of that.
const (
	firstSeconds   = 300
	bytesPerSecond = 1 << 20
)

// isBounded reports whether the task reads what others have made. What a store already has must be removed however long it takes.
func (t childTask) isBounded() bool { return t.Unpack != "" || t.List != "" || t.Merge != "" }

// limitTime ends this process when it has used so many seconds of CPU time, unless more are allowed meanwhile.
func limitTime(seconds uint64) error {
	over := make(chan os.Signal, 1)
	signal.Notify(over, unix.SIGXCPU)
	go func() {
		<-over
		fmt.Fprintf(os.Stderr, "the image takes more CPU time than %d s and 1 s for each %s that it writes: "+
			"build it with fewer files, links and removed files\n", firstSeconds, filesystem.Text(bytesPerSecond))
		os.Exit(1)
	}()
	return allowSeconds(seconds)
}

// allowSeconds sets the limit of CPU time, or a lower one that the user has.
func allowSeconds(seconds uint64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CPU, &limit); err != nil {
		return err
	}
	limit.Cur = min(seconds, limit.Max)
	return unix.Setrlimit(unix.RLIMIT_CPU, &limit)
}

// take returns a function that is called before so many bytes are written. It keeps the reserve of the file system, and allows for
// the CPU time that the bytes take.
func (t childTask) take() func(bytes int64) error {
	guard, written := filesystem.NewGuard(t.Store), int64(0)
	return func(bytes int64) error {
		before := written / bytesPerSecond
		written += bytes
		if now := written / bytesPerSecond; now > before {
			if err := allowSeconds(firstSeconds + uint64(now)); err != nil {
				return err
			}
		}
		return guard.Take(bytes)
	}
}
