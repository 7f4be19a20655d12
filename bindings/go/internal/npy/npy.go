// SPDX-License-Identifier: Apache-2.0

// Package npy reads and writes NumPy's .npy files of version 1.0 in C order and little-endian byte
// order. It makes the six programs independent of NumPy: they use only the public interface of the
// binding.
package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unsafe"

	"example.org/gufunc"
)

const magic = "\x93NUMPY\x01\x00"

var header = regexp.MustCompile(
	`'descr': '([^']*)', 'fortran_order': False, 'shape': \(([^)]*)\)`)

// readBytes returns the dtype string, shape and elements of a file.
func readBytes(path string) (descr string, shape []int, data []byte, err error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return "", nil, nil, err
	}
	if len(file) < 10 || string(file[:8]) != magic {
		return "", nil, nil, fmt.Errorf("%s: not a .npy file of version 1.0", path)
	}
	begin := 10 + int(binary.LittleEndian.Uint16(file[8:]))
	if begin > len(file) {
		return "", nil, nil, fmt.Errorf("%s: the file ends in its header", path)
	}
	found := header.FindStringSubmatch(string(file[10:begin]))
	if found == nil {
		return "", nil, nil, fmt.Errorf("%s: the header has another dtype, order or shape", path)
	}
	shape = []int{}
	for _, word := range strings.Split(found[2], ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		extent, err := strconv.Atoi(word)
		if err != nil {
			return "", nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		shape = append(shape, extent)
	}
	return found[1], shape, file[begin:], nil
}

// WriteBytes writes a file with the same header that NumPy writes.
func WriteBytes(path, descr string, shape []int, data []byte) error {
	extents := ""
	for i, extent := range shape {
		extents += strconv.Itoa(extent)
		if i+1 < len(shape) {
			extents += ", "
		} else if len(shape) == 1 {
			extents += ","
		}
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, extents)
	spaces := 63 - (len(magic)+2+len(head))%64
	head += strings.Repeat(" ", spaces) + "\n"
	file := binary.LittleEndian.AppendUint16([]byte(magic), uint16(len(head)))
	return os.WriteFile(path, append(append(file, head...), data...), 0o644)
}

// Folder is the path of a folder that contains .npy files.
type Folder string

// ErrType means that the dtype of a file is not the requested dtype.
var ErrType = errors.New("elements of another type")

// descrOf returns the spelling of a dtype in .npy files.
func descrOf[T gufunc.Element]() (string, error) {
	info, err := gufunc.DTypeOf[T]().Info()
	if err != nil {
		return "", err
	}
	if info.ItemSize == 1 {
		return "|" + map[byte]string{'b': "b1", 'i': "i1", 'u': "u1"}[info.Kind], nil
	}
	return "<" + info.ShortName, nil
}

// Read reads an array.
func Read[T gufunc.Element](folder Folder, name string) (data []T, shape []int, err error) {
	path := filepath.Join(string(folder), name+".npy")
	descr, shape, bytes, err := readBytes(path)
	if err != nil {
		return nil, nil, err
	}
	if expected, err := descrOf[T](); err != nil || descr != expected {
		return nil, nil, fmt.Errorf("%s: expected %s, got %s: %w", path, expected, descr, ErrType)
	}
	size := int(unsafe.Sizeof(*new(T)))
	data = make([]T, len(bytes)/size)
	if len(data) > 0 {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), len(data)*size), bytes)
	}
	return data, shape, nil
}

// Write writes an array of the given shape.
func Write[T gufunc.Element](folder Folder, name string, data []T, shape ...int) error {
	descr, err := descrOf[T]()
	if err != nil {
		return err
	}
	start := (*byte)(unsafe.Pointer(unsafe.SliceData(data)))
	bytes := unsafe.Slice(start, len(data)*int(unsafe.Sizeof(*new(T))))
	return WriteBytes(filepath.Join(string(folder), name+".npy"), descr, shape, bytes)
}
