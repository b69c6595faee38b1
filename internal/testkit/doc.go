// Package testkit is what tests share: what they need of a machine ([Need]), their part of it
// ([Share]), and the program that they start ([Program], [Command]). Below it are real servers
// for tests (labtest), broken locks (mutants), and two programs for those who work on the tests:
// what takes the time (times), and faults in checkers that no test may miss (mutate).
package testkit
