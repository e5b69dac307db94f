package sandbox

import (
	"debug/elf"
	"os"
	goruntime "runtime"

	"github.com/stint-dev/stint/internal/node/process/stage"
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

// newPause returns a file in memory that holds the program.
func newPause() (*os.File, error) {
	const address = 0x400000
	return stage.NewExecutable("pause", stage.Segment{Address: address, Flags: elf.PF_R | elf.PF_X, Data: pauseCode[goruntime.GOARCH]})
}
