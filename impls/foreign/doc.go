// Package foreign runs a lock that is a program, in whatever language: it speaks JSON lines on
// its standard input and output, as docs/protocol.md says.
//
// Each client has a process of its own. The addresses that it is given are those of gates in
// this process, which pass everything on to the servers and read what goes by: each request
// passes [lockbench.Env] there, so that a program and the library in it need not say
// anything about what they send, and can't send anything that nobody sees.
//
// What the bench can't take for an answer of the lock is a [Finding] about the program.
package foreign
