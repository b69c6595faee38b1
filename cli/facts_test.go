package cli

import (
	"testing"

	"github.com/lockbench/lockbench/internal/facts"
)

// TestQuestions: one that is named twice is asked once, as its answer has one directory.
func TestQuestions(t *testing.T) {
	first, second := facts.Questions()[0].Name, facts.Questions()[1].Name
	asked, err := questions([]string{second, first, second})
	if err != nil || len(asked) != 2 || asked[0].Name != second || asked[1].Name != first {
		t.Errorf("%d questions, %v", len(asked), err)
	}
	if all, err := questions(nil); err != nil || len(all) != len(facts.Questions()) {
		t.Errorf("%d of all, %v", len(all), err)
	}
}
