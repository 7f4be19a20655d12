// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"fmt"
	"strings"
)

// coreDimensions is the core dimensions of each operand of a signature, as places among the
// distinct ones, and which of those may be missing.
func coreDimensions(signature string) (operands [][]int, optional []bool) {
	known := map[string]int{}
	for _, list := range strings.Split(signature, "(")[1:] {
		list, _, _ = strings.Cut(list, ")")
		places := []int{}
		for _, name := range strings.Split(list, ",") {
			// "n?" may be missing, "n|1" may be 1: both are n.
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

// coreCounts is how many core dimensions each operand of a signature has in a call, inputs first;
// nil where an operand has not enough, or is closed. Optional ones are missing from all operands
// where one has too few dimensions.
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

// prepareAxes makes C's flat list, in which nobody could see any more whose an axis was. What else
// may be wrong with it the library tells.
func (o *CallOptions) prepareAxes(b *block, u *Ufunc, inputs []Operand) error {
	info, err := u.Info()
	if err != nil {
		return err
	}
	var counts []int
	size := len(info.Signature) // 0: elementwise; a long one may be cut
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

// misdealt refuses lists that have not their operand's count, in the library's words.
func misdealt(name string, counts []int, axes [][]int, found int) error {
	if counts == nil {
		return nil
	}
	total := 0
	for _, count := range counts {
		total += count
	}
	for i, list := range axes {
		wanted := 0 // behind the last operand
		if i < len(counts) {
			wanted = counts[i]
		}
		if len(list) == wanted {
			continue
		}
		message := fmt.Sprintf("%s: operand %d has %d core dimensions, but %d dimensions are "+
			"specified by axes tuple.", name, i, wanted, len(list))
		if found != total {
			message += fmt.Sprintf("; naxes: found %d, wanted %d", found, total)
		}
		return &Error{ErrArg, message, i, -1, 0}
	}
	return nil
}
