// Package reports turns a directory of results into what people read: the
// matrix on a terminal, a Markdown summary for a CI page, and one HTML page
// that opens offline and stands in a design review. The study of quorums gets a
// page and a table of its own.
//
// It reads files only. It judges nothing (that is the checker's work), runs
// nothing and knows no servers; the same directory always gives the same page.
package reports
