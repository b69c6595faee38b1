package testkit

import "os"

// allVar is the environment variable by which make test-all asks for everything.
const allVar = "LOCKBENCH_TEST_ALL"

// All reports whether everything is to be tested, however long that takes: make test-all.
// What make test leaves to it says there which bug is then found a day later.
func All() bool { return os.Getenv(allVar) != "" }
