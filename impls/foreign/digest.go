package foreign

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// Digest is that of the file which a command begins with, "" where that is none: who edits a
// program has another, and its runs are no more of those before.
func Digest(line, dir string) string {
	words := strings.Fields(line)
	if len(words) == 0 {
		return ""
	}
	path := words[0]
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
