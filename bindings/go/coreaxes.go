// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import "fmt"

// coreCounts returns the number of core dimensions of each operand of a ufunc in a call, inputs
// first. It returns nil if an operand has too few dimensions or is closed. If an operand has too
// few dimensions for an optional core dimension, that dimension is absent from all operands.
func coreCounts(info UfuncInfo, operands []Operand) []int {
	core, absent := info.Core, make([]bool, len(info.CoreDims))
	counts := make([]int, len(core))
	for i := range core {
		counts[i] = len(core[i])
	}
	drop := func(gone int) {
		absent[gone] = true
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
			if dimensions < counts[i] && info.CoreDims[place].Optional && !absent[place] {
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
	if info.Signature != "" && len(inputs) == info.NIn {
		counts = coreCounts(info, append(append([]Operand{}, inputs...), o.Out...))
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
