package sqlserver_test

import (
	"testing"

	"github.com/lockbench/lockbench/backends/internal/sqlserver"
)

func TestVerb(t *testing.T) {
	for statement, want := range map[string]string{
		"select 1": "select", "SELECT(1)": "select", " ((Select 1))": "select", "COMMIT;": "commit", "/* app */ /*b*/\n(insert": "insert",
		"-- who\n-- asks\r\n\tUPDATE t": "update", "/*/ x */do": "do", "": "query", "-- ping": "query", "/* no end": "query", "1": "query", "'a'": "query",
	} {
		if got := sqlserver.Verb(statement); got != want {
			t.Errorf("%q: %q, want %q", statement, got, want)
		}
	}
	for statement, want := range map[string]bool{"": true, ";": true, "-- ping": true, " /* a */ ;\n-- b\n;": true, "/* no end": false, "(": false, "select": false, "; commit": false} {
		if got := sqlserver.Blank(statement); got != want {
			t.Errorf("%q is blank: %v", statement, got)
		}
	}
}
