// Package peers holds the locks of other people's libraries, unmodified: what one
// would pick off the shelf, under the same faults and judged by the same checkers
// as the algorithms. It adds nothing that a library's users would not have.
package peers
