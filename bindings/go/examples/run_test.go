// SPDX-License-Identifier: Apache-2.0

// Package examples_test runs every example and compares its output with its .out file.
package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestStranger uses the binding from another Go module, as README.md describes.
func TestStranger(t *testing.T) {
	folder := t.TempDir()
	binding, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("builtin/builtin.go")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "main.go"), source, 0o644); err != nil {
		t.Fatal(err)
	}
	var got []byte
	for _, words := range [][]string{
		{"mod", "init", "stranger"},
		{"mod", "edit", "-require=example.org/gufunc@v0.1.0", "-replace=example.org/gufunc=" + binding},
		{"run", "."},
	} {
		command := exec.Command("go", words...)
		command.Dir = folder
		if got, err = command.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", words, err, got)
		}
	}
	want, err := os.ReadFile("builtin/builtin.out")
	if err != nil || string(got) != string(want) {
		t.Fatalf("%v, printed:\n%s\nexpected:\n%s", err, got, want)
	}
}

func TestExamples(t *testing.T) {
	modules := os.Getenv("GUFUNC_TEST_MODULES")
	arguments := map[string][]string{
		"ownmodule":     {filepath.Join(modules, "discriminant.so")},
		"smallmatrices": {filepath.Join(modules, "matmulcore.so")},
	}
	paths, err := filepath.Glob("*/*.go")
	if err != nil || len(paths) < 5 {
		t.Fatal(paths, err)
	}
	folder := t.TempDir()
	if text, err := exec.Command("go", "build", "-o", folder, "./...").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, path := range paths {
		name := filepath.Base(filepath.Dir(path))
		t.Run(name, func(t *testing.T) {
			given := arguments[name]
			if len(given) > 0 && modules == "" {
				t.Skip("GUFUNC_TEST_MODULES is not set")
			}
			got, err := exec.Command(filepath.Join(folder, name), given...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, got)
			}
			want, err := os.ReadFile(filepath.Join(name, name+".out"))
			if err != nil || string(got) != string(want) {
				t.Fatalf("%v, printed:\n%s\nexpected:\n%s", err, got, want)
			}
		})
	}
}
