package foreign

// Template is what a lock of one's own begins with in a language.
type Template struct {
	Language string
	// Files by name.
	Files map[string]string
	// Run is the command that tries it, and Needs what that needs.
	Run, Needs string
	// Module has it written where lockbench's own module is, if its directory or the one of whoever
	// asks is within a checkout of that.
	Module bool
}
