// Command lockbench puts distributed locks under faults, on real servers, and
// says which of them can be trusted under what. See the README.
package main

import (
	"os"

	"github.com/lockbench/lockbench/cli"
	"github.com/lockbench/lockbench/cli/stock"
)

func main() { os.Exit(cli.Main(os.Args[1:], stock.Catalog())) }
