// Package peers holds the locks of other people's libraries, unmodified: what one
// would pick off the shelf, under the same faults and judged by the same checkers
// as the algorithms. It adds nothing that a library's users would not have. One row is
// no library: the two commands that people send themselves, with the driver as it comes.
//
// The drivers keep their own defaults, which are not those of the bench's algorithms:
// go-redis waits 5 s for a connection and for an answer, whatever a context says, and
// sends a command up to four times, over a pool of ten connections for each processor;
// rueidis sends a script again after a lost reply, and that second time is not seen as
// a step; zk begins another session, on a server at random, when the last has ended. Only pgx is set up as for the
// algorithms, below a pool of database/sql as that comes: it does not ask whether a connection lives that was idle.
// What is set is what a user must set: the servers, and the TTL as the lock's time or
// as the session's.
package peers
