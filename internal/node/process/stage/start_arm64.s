#include "textflag.h"

#define SYS_clone3 435
#define SYS_exit_group 94
#define SYS_write 64

// func start(args *cloneArgs, size uintptr, list *list) (pid, errno uintptr)
TEXT ·start(SB), NOSPLIT, $0-40
	MOVD list+16(FP), R20
	MOVD args+0(FP), R0
	MOVD size+8(FP), R1
	MOVD $SYS_clone3, R8
	SVC
	CBZ  R0, child
	CMN  $4095, R0
	BCS  refused
	MOVD R0, pid+24(FP)
	MOVD ZR, errno+32(FP)
	RET

refused:
	NEG  R0, R0
	MOVD ZR, pid+24(FP)
	MOVD R0, errno+32(FP)
	RET

child:
	B    run<>(SB)

// func runAddress() unsafe.Pointer
TEXT ·runAddress(SB), NOSPLIT, $0-8
	MOVD $run<>(SB), R0
	MOVD R0, ret+0(FP)
	RET

// run makes the calls of the list in R20, and exits. It must not depend on where it is, because it also is the code of a
// static program. Such a program starts with zero in all registers; its list is at listAddress. The kernel keeps all
// registers but R0. The kinds of calls are 1 for may, 2 for fork and 3 for either.
TEXT run<>(SB), NOSPLIT|NOFRAME, $0-0
	CBNZ R20, begin
	MOVD $0x10000000, R20

begin:
	MOVD 0(R20), R19
	MOVD 8(R20), R22
	MOVD 16(R20), R21

next:
	CMP  R22, R19
	BEQ  end
	MOVD 0(R19), R8
	MOVD 8(R19), R0
	MOVD 16(R19), R1
	MOVD 24(R19), R2
	MOVD 32(R19), R3
	MOVD 40(R19), R4
	MOVD 48(R19), R5
	SVC
	MOVD 56(R19), R1
	CMN  $4095, R0
	BCS  failed
	CMP  $3, R1
	BEQ  skip
	CMP  $2, R1
	BNE  advance
	CBNZ R0, forked
	B    advance

skip:
	ADD  $64, R19
	ADD  $2, R21

advance:
	ADD  $64, R19
	ADD  $2, R21
	B    next

failed:
	NEG  R0, R0
	MOVH R0, (R21)
	CMP  $1, R1
	BEQ  advance
	CMP  $3, R1
	BEQ  advance

	// The errors up to this call.
end:
	MOVD 24(R20), R0
	MOVD 16(R20), R1
	ADD  $2, R21, R2
	SUB  R1, R2
	B    report

forked:
	MOVD R0, 40(R20)
	MOVD 32(R20), R0
	ADD  $40, R20, R1
	MOVD $8, R2

report:
	CBZ  R0, exit
	MOVD $SYS_write, R8
	SVC

exit:
	MOVD $127, R0
	MOVD $SYS_exit_group, R8
	SVC
	B    exit
	WORD $0x6e697473 // endMark
	WORD $0x646e6574
