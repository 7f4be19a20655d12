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

// block is memory of C's for the arguments of one call. Blocks are used again: a call allocates
// nothing once there is one.
type block struct {
	c     *C.gufgo_block
	used  uintptr          // bytes of the arena
	extra []unsafe.Pointer // what did not fit there
}

var blocks = sync.Pool{New: func() any {
	b := &block{c: (*C.gufgo_block)(C.malloc(C.sizeof_gufgo_block))}
	runtime.AddCleanup(b, func(c *C.gufgo_block) { C.free(unsafe.Pointer(c)) }, b.c)
	return b
}}

func lend() *block { return blocks.Get().(*block) }

func (b *block) back() {
	for _, memory := range b.extra {
		C.free(memory)
	}
	b.used, b.extra = 0, b.extra[:0]
	blocks.Put(b)
}

// take gives memory until back, not zeroed.
func (b *block) take(bytes uintptr) unsafe.Pointer {
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

// taken gives room for so many values.
func taken[T any](b *block, count int) []T {
	return unsafe.Slice((*T)(b.take(uintptr(count)*unsafe.Sizeof(*new(T)))), count)
}

// operands gives operands, all of them GUF_OPERAND_NONE.
func (b *block) operands(count int) []C.guf_operand {
	made := taken[C.guf_operand](b, count)
	clear(made)
	return made
}

func (b *block) numbers(values []int) *C.int64_t {
	made := taken[C.int64_t](b, max(len(values), 1)) // of no axes not NULL
	for i, value := range values {
		made[i] = C.int64_t(value)
	}
	return &made[0]
}

// fits refuses numbers of an argument that C's 32 bits would cut.
func fits(status Status, argument string, numbers ...int) error {
	for _, number := range numbers {
		if number != int(uint32(number)) {
			message := fmt.Sprintf("%s: %d is not between 0 and %d", argument, number, math.MaxUint32)
			return &Error{status, message, -1, -1, 0}
		}
	}
	return nil
}

func (b *block) text(value string) *C.char {
	made := taken[byte](b, len(value)+1)
	copy(made, value)
	made[len(value)] = 0
	return (*C.char)(unsafe.Pointer(&made[0]))
}

// list fills in operands; nil ones stay GUF_OPERAND_NONE.
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

// isNil reports a nil interface, and a nil pointer in one. Array has its fill by embedding: the
// quickest way, and one that is closed to nil.
func isNil(value Operand) bool { return (*[2]unsafe.Pointer)(unsafe.Pointer(&value))[1] == nil }

// one gives a single operand, nil for a missing one.
func (b *block) one(value Operand) *C.guf_operand {
	if isNil(value) {
		return nil
	}
	made := b.operands(1)
	value.fill(&made[0])
	return &made[0]
}
