package seccomp

// multiplexed is another way to make a call: through the call named via, with code in the masked first argument.
//
// 32-bit x86 had only socketcall and ipc at first, and programs still use them. A rule for one of these calls must therefore
// hold for both ways.
type multiplexed struct {
	via  string
	code uint64
}

// x86Multiplexed is from linux/net.h and linux/ipc.h.
var x86Multiplexed = map[string]multiplexed{
	"socket":      {"socketcall", 1},
	"bind":        {"socketcall", 2},
	"connect":     {"socketcall", 3},
	"listen":      {"socketcall", 4},
	"accept":      {"socketcall", 5},
	"getsockname": {"socketcall", 6},
	"getpeername": {"socketcall", 7},
	"socketpair":  {"socketcall", 8},
	"send":        {"socketcall", 9},
	"recv":        {"socketcall", 10},
	"sendto":      {"socketcall", 11},
	"recvfrom":    {"socketcall", 12},
	"shutdown":    {"socketcall", 13},
	"setsockopt":  {"socketcall", 14},
	"getsockopt":  {"socketcall", 15},
	"sendmsg":     {"socketcall", 16},
	"recvmsg":     {"socketcall", 17},
	"accept4":     {"socketcall", 18},
	"recvmmsg":    {"socketcall", 19},
	"sendmmsg":    {"socketcall", 20},
	"semop":       {"ipc", 1},
	"semget":      {"ipc", 2},
	"semctl":      {"ipc", 3},
	"semtimedop":  {"ipc", 4},
	"msgsnd":      {"ipc", 11},
	"msgrcv":      {"ipc", 12},
	"msgget":      {"ipc", 13},
	"msgctl":      {"ipc", 14},
	"shmat":       {"ipc", 21},
	"shmdt":       {"ipc", 22},
	"shmget":      {"ipc", 23},
	"shmctl":      {"ipc", 24},
}

// condition is the condition on the first argument of the multiplexer. The kernel uses the upper 16 bits of ipc's first
// argument as a version, so the condition ignores them.
func (m multiplexed) condition() Arg {
	if m.via == "ipc" {
		return Arg{Index: 0, Op: MaskedEqual, Value: 0xffff, ValueTwo: m.code}
	}
	return Arg{Index: 0, Op: Equal, Value: m.code}
}
