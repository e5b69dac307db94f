#include "textflag.h"

#define SYS_clone3 435
#define SYS_exit_group 231

// func start(args *cloneArgs, size uintptr, calls *call, count uintptr) (pid, errno uintptr)
TEXT ·start(SB), NOSPLIT, $0-48
	MOVQ calls+16(FP), BX
	MOVQ count+24(FP), R12
	MOVQ args+0(FP), DI
	MOVQ size+8(FP), SI
	MOVQ $SYS_clone3, AX
	SYSCALL
	TESTQ AX, AX
	JEQ  next
	CMPQ AX, $-4095
	JCC  refused
	MOVQ AX, pid+32(FP)
	MOVQ $0, errno+40(FP)
	RET

refused:
	NEGQ AX
	MOVQ $0, pid+32(FP)
	MOVQ AX, errno+40(FP)
	RET

	// From here on this is the child. The kernel keeps all its registers but AX, CX and R11.
next:
	TESTQ R12, R12
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
	JCS  advance
	NEGQ AX
	MOVQ AX, 64(BX)
	CMPQ 56(BX), $0
	JEQ  end

advance:
	ADDQ $72, BX
	DECQ R12
	JMP  next

end:
	MOVQ $127, DI
	MOVQ $SYS_exit_group, AX
	SYSCALL
	JMP  end
