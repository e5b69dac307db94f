package stage

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"

	"golang.org/x/sys/unix"
)

// Segment is a part of a static program.
type Segment struct {
	Address uint64
	Flags   elf.ProgFlag
	Data    []byte
}

// machines are the processors that static programs can be made for.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// pageSize is the largest size of a page on these processors. Segments are aligned to it in the file, with holes in between.
const pageSize = 64 << 10

// ErrNoExecutables means that NewExecutable is forbidden.
var ErrNoExecutables = errors.New("this machine allows no programs in memory: its sysctl vm.memfd_noexec is 2")

// NewExecutable returns a file in memory that is a static program for this processor, and cannot be changed. The program
// starts at the first byte of the first segment.
func NewExecutable(name string, segments ...Segment) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // Linux before 6.3, where all files in memory can be executed
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if errors.Is(err, unix.EACCES) {
		return nil, ErrNoExecutables
	}
	if err != nil {
		return nil, fmt.Errorf("make a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if err := write(f, segments); err != nil {
		f.Close()
		return nil, fmt.Errorf("write a file in memory: %w", err)
	}
	return f, nil
}

func write(f *os.File, segments []Segment) error {
	if _, err := f.Write(headers(segments)); err != nil {
		return err
	}
	for i, s := range segments {
		if _, err := f.WriteAt(s.Data, offset(segments, i)); err != nil {
			return err
		}
	}
	const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	_, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals)
	return err
}

// offset is where a segment is in the file. The headers are in a page of their own.
func offset(segments []Segment, index int) int64 {
	at := int64(pageSize)
	for _, s := range segments[:index] {
		at += (int64(len(s.Data)) + pageSize - 1) / pageSize * pageSize
	}
	return at
}

// headers returns the headers of an ELF file.
func headers(segments []Segment) []byte {
	const headerSize, segmentSize = 64, 56
	header := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(machines[goruntime.GOARCH]), Version: uint32(elf.EV_CURRENT),
		Entry: segments[0].Address, Phoff: headerSize, Ehsize: headerSize, Phentsize: segmentSize, Phnum: uint16(len(segments)),
	}
	copy(header.Ident[:], elf.ELFMAG)
	header.Ident[elf.EI_CLASS], header.Ident[elf.EI_DATA] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)
	header.Ident[elf.EI_VERSION] = byte(elf.EV_CURRENT)
	var file bytes.Buffer
	_ = binary.Write(&file, binary.LittleEndian, header)
	for i, s := range segments {
		size := uint64(len(s.Data))
		_ = binary.Write(&file, binary.LittleEndian, elf.Prog64{
			Type: uint32(elf.PT_LOAD), Flags: uint32(s.Flags), Off: uint64(offset(segments, i)), Vaddr: s.Address, Paddr: s.Address,
			Filesz: size, Memsz: size, Align: pageSize,
		})
	}
	return file.Bytes()
}
