// Package published holds locks as others have published them, ported to Go step
// for step with whatever mistakes they have. They are here to be convicted where
// they deserve it: nothing in them is repaired, and nothing helps the checkers.
//
// A port keeps the listing's requests, their order, its state and its arithmetic.
// What a listing leaves open (how a caller waits, a constant that it does not
// show) is said in the port's comment. What lockbench found in each is written in
// docs/published.md.
package published
