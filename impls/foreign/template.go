package foreign

// Template is what a lock of one's own begins with in a language.
type Template struct {
	Language string
	// Files by name.
	Files map[string]string
	// Exec is the command that starts it, and Needs what that needs.
	Exec, Needs string
}
