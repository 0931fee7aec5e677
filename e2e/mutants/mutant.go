package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A mutant is one change that breaks a rule.
type mutant struct {
	name string
	rule string // in a sentence, with its section
	file string // below the module's root
	old  string // occurs in file exactly once
	new  string
}

// The lines that part a mutant's texts.
const (
	oldMark = "<<<<\n"
	newMark = "====\n"
	endMark = ">>>>\n"
)

// read reads a mutant's file.
func read(path string) (m mutant, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return m, fmt.Errorf("mutants: %w", err)
	}
	head, rest, ok1 := strings.Cut(string(text), oldMark)
	old, rest, ok2 := strings.Cut(rest, newMark)
	next, rest, ok3 := strings.Cut(rest, endMark)
	rule, file, ok4 := strings.Cut(strings.TrimSpace(head), "\n")
	if !ok1 || !ok2 || !ok3 || !ok4 || rest != "" || old == next {
		return m, fmt.Errorf("mutants: %s is no rule, file, text and other text", path)
	}
	name := strings.TrimSuffix(filepath.Base(path), ".txt")
	return mutant{name: name, rule: rule, file: file, old: old, new: next}, nil
}

// apply changes the mutant's file below root and returns what it was.
func (m *mutant) apply(root string) (was []byte, err error) {
	path := filepath.Join(root, m.file)
	if was, err = os.ReadFile(path); err != nil {
		return nil, fmt.Errorf("mutants: %w", err)
	}
	if n := strings.Count(string(was), m.old); n != 1 {
		return nil, fmt.Errorf("mutants: %s: its text is %d times in %s, want once", m.name, n, m.file)
	}
	text := strings.Replace(string(was), m.old, m.new, 1)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return nil, fmt.Errorf("mutants: %w", err)
	}
	return was, nil
}

// undo writes back what apply returned.
func (m *mutant) undo(root string, was []byte) error {
	if err := os.WriteFile(filepath.Join(root, m.file), was, 0o644); err != nil {
		return fmt.Errorf("mutants: %w", err)
	}
	return nil
}
