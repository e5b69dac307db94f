#include "textflag.h"

#define SYS_clone3 435
#define SYS_exit_group 94

// func start(args *cloneArgs, size uintptr, calls *call, count uintptr) (pid, errno uintptr)
TEXT ·start(SB), NOSPLIT, $0-48
	MOVD calls+16(FP), R19
	MOVD count+24(FP), R20
	MOVD args+0(FP), R0
	MOVD size+8(FP), R1
	MOVD $SYS_clone3, R8
	SVC
	CBZ  R0, next
	CMN  $4095, R0
	BCS  refused
	MOVD R0, pid+32(FP)
	MOVD ZR, errno+40(FP)
	RET

refused:
	NEG  R0, R0
	MOVD ZR, pid+32(FP)
	MOVD R0, errno+40(FP)
	RET

	// From here on this is the child. The kernel keeps all its registers but R0.
next:
	CBZ  R20, end
	MOVD 0(R19), R8
	MOVD 8(R19), R0
	MOVD 16(R19), R1
	MOVD 24(R19), R2
	MOVD 32(R19), R3
	MOVD 40(R19), R4
	MOVD 48(R19), R5
	SVC
	CMN  $4095, R0
	BCC  advance
	NEG  R0, R0
	MOVD R0, 64(R19)
	MOVD 56(R19), R1
	CBZ  R1, end

advance:
	ADD  $72, R19
	SUB  $1, R20
	B    next

end:
	MOVD $127, R0
	MOVD $SYS_exit_group, R8
	SVC
	B    end
