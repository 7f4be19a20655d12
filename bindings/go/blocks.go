// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"unsafe"
)

// block is C memory for the arguments of one call. Blocks are pooled, so a call that reuses a block
// allocates nothing.
type block struct {
	c     *C.gufgo_block
	used  uintptr          // bytes of the arena in use
	extra []unsafe.Pointer // separate allocations for arguments that did not fit into the arena
}

var blocks = sync.Pool{New: func() any {
	b := &block{c: (*C.gufgo_block)(C.malloc(C.sizeof_gufgo_block))}
	runtime.AddCleanup(b, func(c *C.gufgo_block) { C.free(unsafe.Pointer(c)) }, b.c)
	return b
}}

func acquireBlock() *block { return blocks.Get().(*block) }

func (b *block) release() {
	for _, memory := range b.extra {
		C.free(memory)
	}
	b.used, b.extra = 0, b.extra[:0]
	blocks.Put(b)
}

// allocate returns memory that is valid until release is called. The memory is not zeroed.
func (b *block) allocate(bytes uintptr) unsafe.Pointer {
	bytes = (bytes + 15) &^ 15
	if b.used+bytes > C.GUFGO_ARENA {
		memory := C.malloc(C.size_t(bytes))
		b.extra = append(b.extra, memory)
		return memory
	}
	memory := unsafe.Add(unsafe.Pointer(&b.c.arena), b.used)
	b.used += bytes
	return memory
}

// allocateSlice returns a slice of count values in the block. The values are not initialized.
func allocateSlice[T any](b *block, count int) []T {
	return unsafe.Slice((*T)(b.allocate(uintptr(count)*unsafe.Sizeof(*new(T)))), count)
}

// operands returns count operands, each initialized to GUF_OPERAND_NONE.
func (b *block) operands(count int) []C.guf_operand {
	made := allocateSlice[C.guf_operand](b, count)
	clear(made)
	return made
}

func (b *block) numbers(values []int) *C.int64_t {
	made := allocateSlice[C.int64_t](b, max(len(values), 1)) // not NULL for an empty list
	for i, value := range values {
		made[i] = C.int64_t(value)
	}
	return &made[0]
}

// coreAxes converts the axes of each operand.
func (b *block) coreAxes(lists [][]int) *C.guf_core_axes {
	made := allocateSlice[C.guf_core_axes](b, max(len(lists), 1)) // not NULL for an empty list
	for i, axes := range lists {
		made[i] = C.guf_core_axes{axis: b.numbers(axes), naxis: C.int32_t(len(axes))}
	}
	return &made[0]
}

// otherCount returns the error for a list of the wrong length.
func otherCount(argument string, found, expected int) error {
	message := fmt.Sprintf("%s: expected %d numbers, got %d", argument, expected, found)
	return &Error{ErrShape, message, -1, -1, 0}
}

// fits returns an error if a number of an argument is negative or does not fit into C's uint32_t.
func fits(status Status, argument string, numbers ...int) error {
	for _, number := range numbers {
		if number != int(uint32(number)) {
			message := fmt.Sprintf("%s: expected 0 to %d, got %d", argument, math.MaxUint32, number)
			return &Error{status, message, -1, -1, 0}
		}
	}
	return nil
}

func (b *block) text(value string) *C.char {
	made := allocateSlice[byte](b, len(value)+1)
	copy(made, value)
	made[len(value)] = 0
	return (*C.char)(unsafe.Pointer(&made[0]))
}

// list converts operands. A nil operand stays GUF_OPERAND_NONE.
func (b *block) list(values []Operand) []C.guf_operand {
	made := b.operands(len(values))
	for i, value := range values {
		b.set(&made[i], value)
	}
	return made
}

func (b *block) set(operand *C.guf_operand, value Operand) {
	if !isNil(value) {
		value.fill(operand)
	}
}

// isNil reports whether value is a nil interface or holds a nil pointer. isNil tests the data word
// of the interface because a method call would panic: [Array] inherits fill by embedding, and Go
// cannot call a promoted method through a nil pointer.
func isNil(value Operand) bool { return (*[2]unsafe.Pointer)(unsafe.Pointer(&value))[1] == nil }

// one converts a single operand. For nil, it returns NULL.
func (b *block) one(value Operand) *C.guf_operand {
	if isNil(value) {
		return nil
	}
	made := b.operands(1)
	value.fill(&made[0])
	return &made[0]
}
