#include "textflag.h"

#define SYS_clone3 435
#define SYS_exit_group 231
#define SYS_write 1

// func start(args *cloneArgs, size uintptr, list *list) (pid, errno uintptr)
TEXT ·start(SB), NOSPLIT, $0-40
	MOVQ list+16(FP), R12
	MOVQ args+0(FP), DI
	MOVQ size+8(FP), SI
	MOVQ $SYS_clone3, AX
	SYSCALL
	TESTQ AX, AX
	JEQ  child
	CMPQ AX, $-4095
	JCC  refused
	MOVQ AX, pid+24(FP)
	MOVQ $0, errno+32(FP)
	RET

refused:
	NEGQ AX
	MOVQ $0, pid+24(FP)
	MOVQ AX, errno+32(FP)
	RET

child:
	JMP  run<>(SB)

// func runAddress() unsafe.Pointer
TEXT ·runAddress(SB), NOSPLIT, $0-8
	LEAQ run<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// run makes the calls of the list in R12, and exits. It must not depend on where it is, because it also is the code of a
// static program. Such a program starts with zero in all registers; its list is at listAddress. The kernel keeps all
// registers but AX, CX and R11. The kinds of calls are 1 for may, 2 for fork and 3 for either.
TEXT run<>(SB), NOSPLIT|NOFRAME, $0-0
	TESTQ R12, R12
	JNE  begin
	MOVQ $0x10000000, R12

begin:
	MOVQ 0(R12), BX
	MOVQ 16(R12), R13

next:
	CMPQ BX, 8(R12)
	JEQ  end
	MOVQ 0(BX), AX
	MOVQ 8(BX), DI
	MOVQ 16(BX), SI
	MOVQ 24(BX), DX
	MOVQ 32(BX), R10
	MOVQ 40(BX), R8
	MOVQ 48(BX), R9
	SYSCALL
	CMPQ AX, $-4095
	JCC  failed
	CMPQ 56(BX), $3
	JEQ  skip
	CMPQ 56(BX), $2
	JNE  advance
	TESTQ AX, AX
	JNE  forked
	JMP  advance

skip:
	ADDQ $64, BX
	ADDQ $2, R13

advance:
	ADDQ $64, BX
	ADDQ $2, R13
	JMP  next

failed:
	NEGQ AX
	MOVW AX, (R13)
	CMPQ 56(BX), $1
	JEQ  advance
	CMPQ 56(BX), $3
	JEQ  advance

	// The errors up to this call.
end:
	MOVQ 24(R12), DI
	MOVQ 16(R12), SI
	LEAQ 2(R13), DX
	SUBQ SI, DX
	JMP  report

forked:
	MOVQ AX, 40(R12)
	MOVQ 32(R12), DI
	LEAQ 40(R12), SI
	MOVQ $8, DX

report:
	TESTQ DI, DI
	JEQ  exit
	MOVQ $SYS_write, AX
	SYSCALL

exit:
	MOVQ $127, DI
	MOVQ $SYS_exit_group, AX
	SYSCALL
	JMP  exit
	QUAD $0x646e65746e697473 // endMark
