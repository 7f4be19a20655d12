// SPDX-License-Identifier: Apache-2.0

// Package program contains the code that the six programs of tests/bindings/programs share.
package program

import (
	"fmt"
	"os"
	"path/filepath"

	"example.org/gufunc"
	"example.org/gufunc/internal/npy"
)

// Setting contains the arguments of a program.
type Setting struct {
	Inputs, Outputs npy.Folder
	Device          gufunc.Device
}

// Must returns value, or ends the program if there is an error.
func Must[T any](value T, err error) T {
	Check(err)
	return value
}

// Check ends the program if there is an error.
func Check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Start parses the command line, `MODULES_FOLDER INPUTS_FOLDER OUTPUTS_FOLDER [DEVICE]`, and loads
// the module with this name.
func Start(module string) Setting {
	if len(os.Args) < 4 || len(os.Args) > 5 {
		Check(fmt.Errorf("usage: %s MODULES_FOLDER INPUTS_FOLDER OUTPUTS_FOLDER [DEVICE]",
			os.Args[0]))
	}
	spec := "cpu"
	if len(os.Args) == 5 {
		spec = os.Args[4]
	}
	Must(gufunc.LoadModule(filepath.Join(os.Args[1], module+".so")))
	return Setting{npy.Folder(os.Args[2]), npy.Folder(os.Args[3]),
		Must(gufunc.FindDevice(spec))}
}

// Read reads an input and returns it as a slice and as an array over the slice.
func Read[T gufunc.Element](s Setting, name string) (*gufunc.Array[T], []T) {
	data, shape, err := npy.Read[T](s.Inputs, name)
	Check(err)
	return Must(gufunc.Of(data, shape...)), data
}

// Write writes an array of any device to an output.
func Write[T gufunc.Element](s Setting, name string, a *gufunc.Array[T]) {
	Check(npy.Write(s.Outputs, name, Must(a.Values()), a.Shape()...))
}
