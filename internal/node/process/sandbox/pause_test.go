package sandbox

import (
	"bytes"
	"debug/elf"
	"io"
	"testing"
)

func TestPauseIsAProgram(t *testing.T) {
	for arch, want := range pauseCode {
		file, err := elf.NewFile(bytes.NewReader(pauseProgram(arch)))
		if err != nil {
			t.Fatalf("%s: %v", arch, err)
		}
		all, err := io.ReadAll(file.Progs[0].Open())
		if err != nil || file.Machine != want.machine || !bytes.Equal(all[file.Entry-file.Progs[0].Vaddr:], want.code) {
			t.Errorf("%s: %v, %v: the entry leads to % x", arch, err, file.Machine, all[file.Entry-file.Progs[0].Vaddr:])
		}
	}
}
