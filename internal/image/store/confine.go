package store

import (
	"fmt"
	goruntime "runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/seccomp"
)

// childCalls are the system calls that a child needs: for files, memory, threads and time. It cannot run programs, or use the
// network, mounts or other processes, even if an archive that it reads has taken control of it.
var childCalls = []string{
	// Files.
	`close copy_file_range dup dup2 dup3 faccessat faccessat2 fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fchown
	fchownat fcntl fdatasync fgetxattr flistxattr flock fremovexattr fsetxattr fstat fstatfs fsync ftruncate
	getdents64 getxattr lgetxattr linkat listxattr llistxattr lremovexattr lseek lsetxattr lstat mkdirat mknodat newfstatat open
	openat openat2 pipe2 pread64 preadv pwrite64 pwritev read readlink readlinkat readv removexattr rename renameat renameat2
	sendfile setxattr splice stat statfs statx symlinkat sync_file_range syncfs umask unlinkat utimensat write writev`,
	// Memory, threads, signals and time, for the Go runtime.
	`brk clock_getres clock_gettime clock_nanosleep epoll_create1 epoll_ctl epoll_pwait epoll_wait eventfd2 exit exit_group futex
	getegid geteuid getgid getpid getppid getrandom getrlimit gettid gettimeofday getuid madvise membarrier mincore mmap
	mprotect mremap munmap nanosleep poll ppoll prctl prlimit64 restart_syscall rseq rt_sigaction rt_sigprocmask
	rt_sigreturn sched_getaffinity sched_yield set_robust_list set_tid_address setitimer setrlimit sigaltstack
	sysinfo tgkill timer_create timer_delete timer_settime uname`,
}

// confine restricts the process to childCalls, for good. Other system calls fail as if the kernel did not have them.
func confine() error {
	host, err := seccomp.ThisHost()
	if err != nil {
		return err
	}
	filter, err := childProfile().Compile(nil, host)
	if err != nil {
		return err
	}
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up gaining privileges: %w", err)
	}
	return seccomp.Load(filter, unix.SECCOMP_FILTER_FLAG_TSYNC)
}

func childProfile() seccomp.Profile {
	thread := seccomp.Arg{Index: 0, Op: seccomp.MaskedEqual, Value: unix.CLONE_THREAD, ValueTwo: unix.CLONE_THREAD}
	p := seccomp.Profile{
		Default: seccomp.Errno(unix.ENOSYS),
		Rules:   []seccomp.Rule{{Names: []string{"clone"}, Action: seccomp.Allow, Args: []seccomp.Arg{thread}}},
	}
	for _, names := range childCalls {
		p.Rules = append(p.Rules, seccomp.Rule{Names: strings.Fields(names), Action: seccomp.Allow})
	}
	return p
}
