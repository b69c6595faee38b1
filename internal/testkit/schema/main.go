// Command schema ends with 0 if the JSON on its standard input is what a schema asks for, and with 1 and the
// reason otherwise:
//
//	go run ./internal/testkit/schema docs/cells.schema.json <cells.json
//
// It is a program of its own since the library that it uses works for some milliseconds whenever a process
// begins, and the processes of a lab are copies of the test's.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func main() {
	if err := check(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func check(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: schema FILE <JSON")
	}
	s, err := jsonschema.NewCompiler().Compile(args[0])
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(os.Stdin)
	if err != nil {
		return err
	}
	return s.Validate(v)
}
