// Package bench measures what locks cost: it brings up the servers of every algorithm,
// lets clients take and give back locks, and fills in a [cost.Bench], round by round, all
// algorithms in each round.
//
// The clients live in its own process, inside the lab, and use an algorithm through the
// same doors as a worker's do. Nothing is recorded but figures, and nothing is judged.
package bench
