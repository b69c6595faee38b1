// Package explore walks every order in which the moves of a few clients can reach the real
// server, up to stated bounds: each move is held at the lock's Env until a scheduler lets
// exactly one go, and time is the scheduler's, as are the end of a lease, a crash and a lost
// reply. Each order is a history like any other, and is judged by the checkers that judge
// every run.
//
// It follows MODIST, dBug and CHESS, which do so with systems under a scheduler of their own;
// here the server is foreign, and runs as it always does.
//
// # What is a move
//
// A request with its answer is one move: on a server that serves one request for a lock at a time,
// what lies between them can't be told apart, save by a lease that ends meanwhile. So where one
// may, the hearing of an answer that could grant the lock or renew it is a move of its own; a client that looks
// at a clock when the answer has come stands there already. The work under the lock is two more: a
// read from the store, and a write, with the look at the lease before it. What a server says by
// itself (an event, a message, the end of a wait in it) is heard at once, and what the client then
// sends is its move. A caller may give up while the lock is asked for; what its library then does is its moves.
// Before each call of the lock, each further try and each renewal the client stands, too,
// since it looks at its clock then. Another try makes sense only
// when something has changed since the last, or by it. A renewal may come at any time.
//
// # What is walked once
//
// Two orders that differ in nothing but the sequence of two moves which have nothing to do with
// each other are one. Moves of different clients have to do with each other if both are requests
// and one of them may change the lock, which is the same for both; if both are with the store; if one is a call and
// the other a request, since what is judged depends on which came first; or
// if one of them is the end of a lease, which all can see. A crash, a lost reply or the end of one session has to do
// with every request, since a server may tell others of the end of a connection; and with the work of a client
// that may be told that its lock is gone. A wait that is over
// by time has to do with every request, which may end it as well. All else touches one client alone. That
// a moment passes before a request, on all clocks, is left out: it is nothing to a client whose lease is
// of the length that was asked for. Two requests that both changed nothing, by what the server counts,
// have nothing to do with each other in that moment. Of the hearing of an answer the earliest stands for all that come before a
// lease ends: it leaves the client holding the lock for longest, so it is judged most strictly. Not so where
// a lock tells its holders that it is gone: who hears late may be told first.
//
// What follows a moment is walked once, too, however often orders come to it. A moment is all that can be followed by and all
// that will be judged: what each client did, was answered and saw, when it looked at a clock, what was done to
// the server and to the store, and how the grants of the past lie to each other.
//
// Sleep sets (Godefroid, 1996) keep the walk from orders that it knows. They are sound here because what a move of
// one client makes possible, or impossible, for another follows the same rule.
package explore
