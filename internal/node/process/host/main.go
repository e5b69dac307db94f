package host

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/closeonexec"
	"github.com/stint-dev/stint/internal/memory"
	"github.com/stint-dev/stint/internal/node/process/rundir"
	"github.com/stint-dev/stint/internal/node/process/sandbox"
)

// Exit codes, from which the control plane decides what to try next.
const (
	ExitFailed = 1
	// ExitNoNamespaces means that the namespaces that the host was started in cannot be used.
	ExitNoNamespaces = 3
	// ExitTaken means that another host has the run directory.
	ExitTaken = 4
)

// Files of the run directory.
const (
	SocketName = "host.sock"
	// LogName is the host's own log.
	LogName  = "host.log"
	lockName = "lock"
)

// Main runs a host until it has been idle for long enough.
func Main(config Config) int {
	if err := closeonexec.Keep(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return ExitFailed
	}
	if !config.KeepSessionKeyring {
		// Before this program executes itself: after that, all threads have this keyring.
		sandbox.JoinNewSession()
	}
	protectProgram()
	if err := protectMemory(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return ExitFailed
	}
	// What the host does is mostly short system calls. On all CPUs it would take a third more CPU time, to wake threads.
	goruntime.GOMAXPROCS(max(1, goruntime.GOMAXPROCS(0)/2))
	// Each container may have a thread. At 10,000, without this, the Go runtime would end this process.
	debug.SetMaxThreads(1 << 20)
	// Log files of containers get their modes where they are made.
	syscall.Umask(0o022)
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
	if config.Outside != nil {
		if err := mountOwn(config); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return ExitNoNamespaces
		}
	}
	if err := rundir.Check(config.RunDir, config.Dir, config.uid()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return ExitTaken
	}
	lock, err := takeLock(config)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return ExitTaken
	}
	defer lock.Close()
	if err := run(config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return ExitFailed
	}
	return 0
}

// mountOwn makes mounts private and /proc show the processes of this pid namespace. Where it fails the user namespace is
// of no use.
func mountOwn(config Config) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if !config.PIDNamespace {
		return nil
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc for a pid namespace: %w", err)
	}
	return nil
}

// takeLock makes this process the only host of the run directory. A host that is ending may hold the lock for a while.
// After StartTimeout the control plane has given up on this host.
func takeLock(config Config) (*os.File, error) {
	path := filepath.Join(config.RunDir, lockName)
	for limit := time.Now().Add(config.StartTimeout); ; time.Sleep(10 * time.Millisecond) {
		lock, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil && isAt(lock, path) {
			return lock, nil
		}
		lock.Close()
		if time.Now().After(limit) {
			return nil, errors.New("another host process has " + config.RunDir)
		}
	}
}

// isAt reports whether path is still the file that was opened.
func isAt(file *os.File, path string) bool {
	mine, err1 := file.Stat()
	theirs, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(mine, theirs)
}

func run(config Config) error {
	// The data directory may have been moved since the run directory was marked.
	if err := rundir.Mark(config.RunDir, config.Dir); err != nil {
		return err
	}
	owner, err := rundir.OpenOwner(config.Dir, config.RunDir)
	if err != nil {
		return err
	}
	defer owner.Close()
	h, err := open(config, owner)
	if err != nil {
		return err
	}
	socket := filepath.Join(config.RunDir, SocketName)
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return err
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		return err
	}
	slog.Info("Ready", "dir", config.Dir, "isolation", h.sandbox.Info().Isolation)
	h.mu.Lock()
	h.updateIdleTimer()
	h.mu.Unlock()
	go h.serve(listener)
	memory.DropStartup()
	<-h.done
	listener.Close()
	h.sandbox.Close()
	if h.journal.close() || owner.HasLeft() {
		// No control plane will ask for anything again.
		return rundir.Remove(config.RunDir, SocketName, journalName, newJournalName, LogName, lockName)
	}
	return nil
}
