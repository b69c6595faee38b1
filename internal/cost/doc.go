// Package cost is what a lock costs, as data: the figures of a benchmark with their
// medians, intervals and ratios, the accounting of hand-offs, and the forms in which a
// benchmark is kept (JSON, and the text that benchstat reads).
//
// It measures nothing and knows no lock: who does feeds it with instants.
package cost
