package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lockbench/lockbench/internal/quorum"
)

// quorumDir is where the directory of a matrix may hold a study, beside its own.
const quorumDir = "quorum"

// SaveQuorum writes a study of quorums into its directory.
func SaveQuorum(dir string, s quorum.Study) error {
	return writeJSON(filepath.Join(dir, QuorumFile), s)
}

// OpenQuorum reads the study in a directory, or below it. The error matches [fs.ErrNotExist] where there is none.
func OpenQuorum(dir string) (quorum.Study, error) {
	s, err := readQuorum(filepath.Join(dir, QuorumFile))
	if errors.Is(err, fs.ErrNotExist) {
		s, err = readQuorum(filepath.Join(dir, quorumDir, QuorumFile))
	}
	return s, err
}

func readQuorum(file string) (s quorum.Study, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	if s.Schema != quorum.Schema {
		return s, fmt.Errorf("%s has schema %d, this version reads %d", QuorumFile, s.Schema, quorum.Schema)
	}
	return s, nil
}
