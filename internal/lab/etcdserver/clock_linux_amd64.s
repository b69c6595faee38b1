#include "textflag.h"

// clock is clock_gettime with the wall clock set apart: it makes the system call,
// and adds to CLOCK_REALTIME (0) what skew says: an offset, and a drift since an
// instant of CLOCK_MONOTONIC (1). C calls it: DI is the clock, SI the timespec.
TEXT ·clock(SB), NOSPLIT|NOFRAME, $0
	MOVL $228, AX            // clock_gettime
	SYSCALL
	TESTL DI, DI
	JNE  done
	MOVQ ·skew(SB), R8
	MOVQ 0(R8), R9           // offset, ns
	CMPQ 16(R8), $0          // drift, ppb
	JEQ  add
	MOVQ SI, R10
	SUBQ $16, SP
	MOVL $1, DI
	MOVQ SP, SI
	MOVL $228, AX
	SYSCALL
	MOVQ 0(SP), AX
	IMUL3Q $1000000000, AX, AX
	ADDQ 8(SP), AX
	ADDQ $16, SP
	SUBQ 8(R8), AX           // ns since the drift began
	IMULQ 16(R8)
	MOVQ $1000000000, CX
	IDIVQ CX
	ADDQ AX, R9
	MOVQ R10, SI
add:
	MOVQ R9, AX
	CQO
	MOVQ $1000000000, CX
	IDIVQ CX
	ADDQ AX, 0(SI)
	ADDQ 8(SI), DX
	JGE  carry
	ADDQ CX, DX
	DECQ 0(SI)
carry:
	CMPQ DX, CX
	JLT  store
	SUBQ CX, DX
	INCQ 0(SI)
store:
	MOVQ DX, 8(SI)
done:
	XORL AX, AX
	RET

// func clockAddr() uintptr
TEXT ·clockAddr(SB), NOSPLIT, $0-8
	LEAQ ·clock(SB), AX
	MOVQ AX, ret+0(FP)
	RET
