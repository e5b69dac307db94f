package sandbox

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	goruntime "runtime"

	"golang.org/x/sys/unix"
)

// pauseCode is the program of process 1 of a pod whose containers share a pid namespace: it waits for signals, and is sent
// none. It is machine code because this program itself would take milliseconds to start and megabytes to run.
var pauseCode = map[string]struct {
	machine elf.Machine
	code    []byte
}{
	"amd64": {elf.EM_X86_64, []byte{
		0xb8, 34, 0, 0, 0, // mov eax, pause
		0x0f, 0x05, // syscall
		0xeb, 0xf7, // jmp to the first instruction
	}},
	"arm64": {elf.EM_AARCH64, []byte{
		0x28, 0x09, 0x80, 0xd2, // mov x8, ppoll: the other registers are zero
		0x01, 0x00, 0x00, 0xd4, // svc 0
		0xfe, 0xff, 0xff, 0x17, // b to the first instruction
	}},
}

// newPause returns a file in memory that holds the program.
func newPause() (*os.File, error) {
	fd, err := unix.MemfdCreate("pause", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "pause")
	if _, err := f.Write(pauseProgram(goruntime.GOARCH)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// pauseProgram returns an ELF file of one segment.
func pauseProgram(arch string) []byte {
	const address, headers = 0x400000, 64 + 56
	pause := pauseCode[arch]
	header := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(pause.machine), Version: uint32(elf.EV_CURRENT), Entry: address + headers,
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
	}
	copy(header.Ident[:], elf.ELFMAG)
	header.Ident[elf.EI_CLASS], header.Ident[elf.EI_DATA] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)
	header.Ident[elf.EI_VERSION] = byte(elf.EV_CURRENT)
	size := uint64(headers + len(pause.code))
	segment := elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: address, Paddr: address,
		Filesz: size, Memsz: size, Align: 4096,
	}
	var file bytes.Buffer
	for _, part := range []any{header, segment, pause.code} {
		_ = binary.Write(&file, binary.LittleEndian, part)
	}
	return file.Bytes()
}
