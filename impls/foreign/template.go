package foreign

// Template is what a lock of one's own begins with in a language.
type Template struct {
	Language string
	// Files by name.
	Files map[string]string
	// Needs is what it needs. Build is the command for the shell that makes a program of the files, "" where they are one, and
	// Exec what lockbench starts then; or Run tries what is no such program.
	Needs, Build, Exec, Run string
	// Module has it written where lockbench's own module is, if its directory or the one of whoever
	// asks is within a checkout of that.
	Module bool
}
