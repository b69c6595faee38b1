#include "textflag.h"

// gettime is clock_gettime with clocks set apart: it makes the system call, and adds
// to CLOCK_REALTIME (0) and CLOCK_MONOTONIC (1) what the table at apart says: an offset,
// and a drift since an instant of the machine's CLOCK_MONOTONIC. C calls it: DI is the
// clock, SI the timespec.
TEXT ·gettime(SB), NOSPLIT|NOFRAME, $0
	MOVL $228, AX            // clock_gettime
	SYSCALL
	CMPL DI, $1
	JHI  done
	MOVQ ·apart(SB), R8
	IMUL3Q $24, DI, DI
	ADDQ DI, R8
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

// func gettimeAddr() uintptr
TEXT ·gettimeAddr(SB), NOSPLIT, $0-8
	LEAQ ·gettime(SB), AX
	MOVQ AX, ret+0(FP)
	RET
