package postgres

import (
	_ "embed"
	"slices"
	"syscall"

	"github.com/lockbench/lockbench/backends/internal/sqlserver"
	"github.com/lockbench/lockbench/lab"
)

//go:embed start.sh
var start string

//go:embed pgbouncer.ini
var poolerConfig string

const port = 5432

// stopSignal ends the server's sessions and the server, as the distributions' supervisors do ("fast"
// shutdown); SIGTERM would wait for the clients to go.
const stopSignal = syscall.SIGINT

// program leaves the server's timeouts at their defaults: a connection that falls silent is kept for two
// hours, and a request waits for a lock for as long as it takes. What that does to a lock whose holder is cut
// off is for the bench to show.
func program(lab.Host, []lab.Host) lab.Program {
	return lab.Program{
		Argv:  []string{"sh", "{dir}/start.sh"},
		Files: map[string]string{"start.sh": start},
		Port:  port,
		Ready: responds,
	}
}

// behind is a server behind PgBouncer in transaction mode, on one host, as people run it beside either.
func behind(lab.Host, []lab.Host) lab.Program {
	p := program(nil, nil)
	p.Files["pgbouncer.ini"] = poolerConfig
	p.Env = []string{"LOCKBENCH_POOLER={dir}/pgbouncer.ini"}
	return p
}

// durable has every commit on the disk, as PostgreSQL does by default.
func durable(p lab.Program) lab.Program { return more(p, "-c fsync=on") }

// more gives the server another option, which overrules those of the script.
func more(p lab.Program, option string) lab.Program {
	return sqlserver.Option(p, "LOCKBENCH_POSTGRES_OPTIONS", option)
}

// software is what a user can change of the servers.
var software = lab.Software{Name: "postgres", Unfit: " \t*?[", // a shell
	Option: func(p lab.Program, name, value string) lab.Program { return more(p, "-c "+name+"="+value) },
	Binary: func(p lab.Program, path string) lab.Program {
		p.Env = append(slices.Clip(p.Env), "LOCKBENCH_POSTGRES="+path)
		return p
	}}
