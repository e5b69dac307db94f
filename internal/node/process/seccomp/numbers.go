package seccomp

import (
	"maps"
	"strconv"
	"strings"
	"sync"
)

// The numbers of system calls, by calling convention. The tables are parsed when they are first used.
var (
	x86_64Numbers  = sync.OnceValue(func() map[string]uint32 { return readNumbers(x86_64Table) })
	x32Numbers     = sync.OnceValue(deriveX32)
	x86Numbers     = sync.OnceValue(func() map[string]uint32 { return readNumbers(x86Table) })
	aarch64Numbers = sync.OnceValue(func() map[string]uint32 { return readNumbers(aarch64Table) })
	armNumbers     = sync.OnceValue(func() map[string]uint32 { return readNumbers(armTable + armPrivate) })
)

// firstArmPrivate is where the numbers of ARM's own calls begin, far above all others.
const firstArmPrivate = 0xf0000

// armPrivate are ARM's own calls, and the name that other architectures have for arm_sync_file_range.
const armPrivate = ` 341 sync_file_range2 983041 breakpoint cacheflush usr26 usr32 set_tls get_tls`

// readNumbers reads a table: a number, then the names of the calls from that number on, then the next number, …
func readNumbers(table string) map[string]uint32 {
	numbers := map[string]uint32{}
	var next uint32
	for _, word := range strings.Fields(table) {
		if n, err := strconv.ParseUint(word, 10, 32); err == nil {
			next = uint32(n)
			continue
		}
		numbers[word] = next
		next++
	}
	return numbers
}

// deriveX32 makes the table of x32. It is that of x86_64 except for some calls: those for which x32 has another number,
// because structures differ, and those that x32 does not have.
func deriveX32() map[string]uint32 {
	numbers := maps.Clone(x86_64Numbers())
	for _, name := range strings.Fields(absentFromX32) {
		delete(numbers, name)
	}
	maps.Copy(numbers, readNumbers(x32Own))
	return numbers
}

const x32Own = `512 rt_sigaction rt_sigreturn ioctl readv writev recvfrom sendmsg recvmsg execve ptrace
	rt_sigpending rt_sigtimedwait rt_sigqueueinfo sigaltstack timer_create mq_notify kexec_load waitid
	set_robust_list get_robust_list vmsplice move_pages preadv pwritev rt_tgsigqueueinfo recvmmsg sendmmsg
	process_vm_readv process_vm_writev setsockopt getsockopt io_setup io_submit execveat preadv2 pwritev2`

const absentFromX32 = `uselib _sysctl create_module get_kernel_syms query_module nfsservctl set_thread_area
	get_thread_area epoll_ctl_old epoll_wait_old vserver uretprobe uprobe map_shadow_stack`
