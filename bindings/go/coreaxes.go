// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"fmt"
	"strings"
)

// coreDimensions returns the core dimensions of each operand of a signature, as indices into the
// list of distinct dimensions, and which distinct dimensions are optional.
func coreDimensions(signature string) (operands [][]int, optional []bool) {
	known := map[string]int{}
	for _, list := range strings.Split(signature, "(")[1:] {
		list, _, _ = strings.Cut(list, ")")
		places := []int{}
		for _, name := range strings.Split(list, ",") {
			// "n?" marks an optional dimension and "n|1" one that may be 1. Both are named n.
			name = strings.TrimSpace(name)
			marks := ""
			if end := strings.IndexAny(name, "?| "); end >= 0 {
				name, marks = name[:end], name[end:]
			}
			if name == "" {
				continue
			}
			if _, found := known[name]; !found {
				known[name] = len(known)
				optional = append(optional, false)
			}
			if strings.Contains(marks, "?") {
				optional[known[name]] = true
			}
			places = append(places, known[name])
		}
		operands = append(operands, places)
	}
	return operands, optional
}

// coreCounts returns the number of core dimensions of each operand of a signature in a call, inputs
// first. It returns nil if an operand has too few dimensions or is closed. If an operand has too
// few dimensions for an optional core dimension, that dimension is absent from all operands.
func coreCounts(signature string, operands []Operand) []int {
	core, optional := coreDimensions(signature)
	counts := make([]int, len(core))
	for i := range core {
		counts[i] = len(core[i])
	}
	drop := func(gone int) {
		optional[gone] = false
		for i := range core {
			for _, place := range core[i] {
				if place == gone {
					counts[i]--
				}
			}
		}
	}
	for i := 0; i < len(operands) && i < len(core); i++ {
		if isNil(operands[i]) {
			continue
		}
		dimensions := 0
		if array, ok := operands[i].(AnyOperand); ok {
			info, err := array.Any().Info()
			if err != nil {
				return nil
			}
			dimensions = len(info.Shape)
		}
		for _, place := range core[i] {
			if dimensions < counts[i] && optional[place] {
				drop(place)
			}
		}
		if dimensions < counts[i] {
			return nil
		}
	}
	return counts
}

// prepareAxes flattens Axes into the list that the C function expects. The flat list does not show
// where the axes of one operand end, so prepareAxes checks the length of each operand's list first.
// The library makes all other checks.
func (o *CallOptions) prepareAxes(b *block, u *Ufunc, inputs []Operand) error {
	info, err := u.Info()
	if err != nil {
		return err
	}
	var counts []int
	size := len(info.Signature) // "" for an elementwise ufunc; the field cuts a long signature
	if size > 0 && size < len(C.guf_ufunc_info{}.signature)-1 && len(inputs) == info.NIn {
		counts = coreCounts(info.Signature, append(append([]Operand{}, inputs...), o.Out...))
	}
	if o.KeepDims {
		for i := info.NIn; i < len(counts); i++ {
			counts[i] = counts[0]
		}
	}
	var flat []int
	for _, list := range o.Axes {
		flat = append(flat, list...)
	}
	if err := misdealt(info.Name, counts, o.Axes, len(flat)); err != nil {
		return err
	}
	b.c.call.naxes, b.c.call.axes = C.int32_t(len(flat)), b.numbers(flat)
	return nil
}

// misdealt returns an error if the length of a list is not the number of core dimensions of its
// operand. The message is the library's.
func misdealt(name string, counts []int, axes [][]int, found int) error {
	if counts == nil {
		return nil
	}
	total := 0
	for _, count := range counts {
		total += count
	}
	for i, list := range axes {
		expected := 0 // a list after the last operand must be empty
		if i < len(counts) {
			expected = counts[i]
		}
		if len(list) == expected {
			continue
		}
		message := fmt.Sprintf("%s: operand %d has %d core dimensions, but %d dimensions are "+
			"specified by axes tuple.", name, i, expected, len(list))
		if found != total {
			message += fmt.Sprintf("; naxes: expected %d, got %d", total, found)
		}
		return &Error{ErrArg, message, i, -1, 0}
	}
	return nil
}
