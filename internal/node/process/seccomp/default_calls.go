package seccomp

// commonCalls are the calls of RuntimeDefault for all containers, by subject. Some names exist only on one machine or in
// one calling convention.
var commonCalls = []string{
	// Files: open and close.
	`
		close close_range creat dup dup2 dup3 memfd_create memfd_secret name_to_handle_at open openat openat2 pipe pipe2`,
	// Files: read and write.
	`
		copy_file_range fadvise64 fadvise64_64 fallocate fdatasync fsync ftruncate ftruncate64 _llseek lseek pread64
		preadv preadv2 pwrite64 pwritev pwritev2 read readahead readv sendfile sendfile64 splice sync sync_file_range
		syncfs tee truncate truncate64 vmsplice write writev`,
	// Files: inspect.
	`
		access faccessat faccessat2 fstat fstat64 fstatat64 fstatfs fstatfs64 getcwd getdents getdents64 listmount lstat
		lstat64 newfstatat readlink readlinkat stat stat64 statfs statfs64 statmount statx`,
	// Files: change.
	`
		chdir chmod chown chown32 fchdir fchmod fchmodat fchmodat2 fchown fchown32 fchownat fcntl fcntl64 flock
		futimesat ioctl lchown lchown32 link linkat mkdir mkdirat mknod mknodat rename renameat renameat2 rmdir symlink
		symlinkat umask unlink unlinkat utime utimensat utimensat_time64 utimes`,
	// Files: attributes.
	`
		fgetxattr flistxattr fremovexattr fsetxattr getxattr getxattrat lgetxattr listxattr listxattrat llistxattr
		lremovexattr lsetxattr removexattr removexattrat setxattr setxattrat`,
	// Files: wait for.
	`
		epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd
		eventfd2 fanotify_mark inotify_add_watch inotify_init inotify_init1 inotify_rm_watch _newselect poll ppoll
		ppoll_time64 pselect6 pselect6_time64 select`,
	// Files: asynchronous.
	`
		io_cancel io_destroy io_getevents io_pgetevents io_pgetevents_time64 io_setup io_submit`,
	// Memory.
	`
		brk cachestat madvise map_shadow_stack membarrier mincore mlock mlock2 mlockall mmap mmap2 mprotect mremap mseal
		msync munlock munlockall munmap pkey_alloc pkey_free pkey_mprotect process_mrelease remap_file_pages`,
	// Processes.
	`
		execve execveat exit exit_group fork getpgid getpgrp getpid getppid getpriority getrlimit getrusage getsid
		gettid ioprio_get ioprio_set pidfd_open pidfd_send_signal prctl prlimit64 setpgid setpriority setrlimit setsid
		times ugetrlimit vfork wait4 waitid waitpid`,
	// Threads.
	`
		futex futex_requeue futex_time64 futex_wait futex_waitv futex_wake get_robust_list get_thread_area rseq
		set_robust_list set_thread_area set_tid_address`,
	// Processors.
	`
		getcpu riscv_hwprobe sched_getaffinity sched_getattr sched_getparam sched_get_priority_max sched_get_priority_min
		sched_getscheduler sched_rr_get_interval sched_rr_get_interval_time64 sched_setaffinity sched_setattr
		sched_setparam sched_setscheduler sched_yield`,
	// Signals.
	`
		kill pause restart_syscall rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
		rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo sigaltstack signalfd signalfd4 sigprocmask sigreturn
		tgkill tkill uretprobe`,
	// Users.
	`
		capget capset getegid getegid32 geteuid geteuid32 getgid getgid32 getgroups getgroups32 getresgid getresgid32
		getresuid getresuid32 getuid getuid32 setfsgid setfsgid32 setfsuid setfsuid32 setgid setgid32 setgroups
		setgroups32 setregid setregid32 setresgid setresgid32 setresuid setresuid32 setreuid setreuid32 setuid setuid32`,
	// Time.
	`
		adjtimex alarm clock_adjtime clock_adjtime64 clock_getres clock_getres_time64 clock_gettime clock_gettime64
		clock_nanosleep clock_nanosleep_time64 getitimer gettimeofday nanosleep setitimer time timer_create timer_delete
		timer_getoverrun timer_gettime timer_gettime64 timer_settime timer_settime64 timerfd_create timerfd_gettime
		timerfd_gettime64 timerfd_settime timerfd_settime64`,
	// Network.
	`
		accept accept4 bind connect getpeername getsockname getsockopt listen recv recvfrom recvmmsg recvmmsg_time64
		recvmsg send sendmmsg sendmsg sendto setsockopt shutdown socketcall socketpair`,
	// Messages, semaphores, shared memory.
	`
		ipc mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedreceive_time64 mq_timedsend mq_timedsend_time64
		mq_unlink msgctl msgget msgrcv msgsnd semctl semget semop semtimedop semtimedop_time64 shmat shmctl shmdt shmget`,
	// Restrictions of the caller itself.
	`
		landlock_add_rule landlock_create_ruleset landlock_restrict_self seccomp`,
	// The machine.
	`
		getrandom sysinfo uname`,
}

// capabilityCalls are the calls of RuntimeDefault that need a capability.
var capabilityCalls = []struct{ capability, names string }{
	{"CAP_BPF", "bpf"},
	{"CAP_DAC_READ_SEARCH", "open_by_handle_at"},
	{"CAP_PERFMON", "perf_event_open"},
	{"CAP_SYS_ADMIN", `
		bpf clone clone3 fanotify_init fsconfig fsmount fsopen fspick lookup_dcookie lsm_get_self_attr lsm_list_modules
		lsm_set_self_attr mount mount_setattr move_mount open_tree perf_event_open quotactl quotactl_fd setdomainname
		sethostname setns syslog umount umount2 unshare`},
	{"CAP_SYS_BOOT", "reboot"},
	{"CAP_SYS_CHROOT", "chroot"},
	{"CAP_SYS_MODULE", "delete_module finit_module init_module"},
	{"CAP_SYS_NICE", "get_mempolicy mbind set_mempolicy set_mempolicy_home_node"},
	{"CAP_SYS_PACCT", "acct"},
	{"CAP_SYS_PTRACE", "kcmp pidfd_getfd process_madvise process_vm_readv process_vm_writev ptrace"},
	{"CAP_SYS_RAWIO", "ioperm iopl"},
	{"CAP_SYS_TIME", "clock_settime clock_settime64 settimeofday stime"},
	{"CAP_SYS_TTY_CONFIG", "vhangup"},
	{"CAP_SYSLOG", "syslog"},
}
