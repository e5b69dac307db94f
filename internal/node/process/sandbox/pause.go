package sandbox

import (
	"debug/elf"
	"os"
	goruntime "runtime"
	"sync"

	"github.com/stint-dev/stint/internal/node/process/seccomp"
	"github.com/stint-dev/stint/internal/node/process/stage"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// pauseCode is the program of process 1 of a pod whose containers share a pid namespace: it waits for signals, and is sent
// none. It is machine code because this program itself would take milliseconds to start and megabytes to run.
var pauseCode = map[string][]byte{
	"amd64": {
		0xb8, 34, 0, 0, 0, // mov eax, pause
		0x0f, 0x05, // syscall
		0xeb, 0xf7, // jmp to the first instruction
	},
	"arm64": {
		0x28, 0x09, 0x80, 0xd2, // mov x8, ppoll: the other registers are zero
		0x01, 0x00, 0x00, 0xd4, // svc 0
		0xfe, 0xff, 0xff, 0x17, // b to the first instruction
	},
}

// newPause returns a file in memory that holds the program. Who may not read the file may not trace its process.
func newPause() (*os.File, error) {
	const address = 0x400000
	f, err := stage.NewExecutable("pause", stage.Segment{Address: address, Flags: elf.PF_R | elf.PF_X, Data: pauseCode[goruntime.GOARCH]})
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o111); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// pauseFilter lets only those system calls pass by which the program is executed, and which it makes.
var pauseFilter = sync.OnceValues(func() ([]runtime.Instruction, error) {
	names := []string{"execveat", "exit", "pause", "ppoll", "restart_syscall", "rt_sigreturn"}
	return compile(seccomp.Profile{Default: seccomp.KillProcess, Rules: []seccomp.Rule{{Names: names, Action: seccomp.Allow}}})
})
