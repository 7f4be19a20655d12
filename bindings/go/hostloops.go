// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"
)

// LoopArgs contains the arguments of a Go loop for one run, which covers consecutive items of a
// call. It is valid only until the loop returns. Its methods and [Item] panic for an index out of
// range, like an access to a slice. The call then fails with ErrLoop and the panic's text.
type LoopArgs struct {
	run         *hostLoop
	items       int
	args        []unsafe.Pointer
	dims, steps []int
	views       []view
	few         [4]view // storage of views for up to four operands
}

// view is an operand in one run of a loop. element identifies the Go type for which [Item] last
// checked an access to the operand. The elements of an item are at byte offsets first to last from
// the item's address. For an operand without elements, last is less than first.
type view struct {
	start             unsafe.Pointer
	element           unsafe.Pointer
	step, first, last int
}

// hostLoop is a loop implemented in Go, with the properties of its operands.
type hostLoop struct {
	function Loop
	operands []loopOperand
	sizes    int // number of distinct core dimensions
	strides  int // number of core strides of all operands
}

type loopOperand struct {
	dtype    DType
	itemSize int
	element  any   // a pointer to the Go type of the elements; nil for structured dtypes
	core     []int // core dimensions, as indices into the distinct dimensions
}

// newLoop collects the information that the checks of [Item] need. newLoop does not reject invalid
// dtypes or a wrong number of dtypes, because the library does.
func (u *Ufunc) newLoop(types []DType, loop Loop) (*hostLoop, error) {
	info, err := u.Info()
	if err != nil {
		return nil, err
	}
	core := info.Core
	made := &hostLoop{function: loop, operands: make([]loopOperand, len(types)),
		sizes: len(info.CoreDims)}
	for i, dtype := range types {
		operand := &made.operands[i]
		operand.dtype, operand.itemSize = dtype, dtype.ItemSize()
		if i < len(core) {
			operand.core = core[i]
			made.strides += len(core[i])
		}
		for _, element := range elementTypes {
			if dtypeOf(element).holds(dtype) {
				operand.element = element
			}
		}
	}
	return made, nil
}

// begin makes the arguments of one run.
func (h *hostLoop) begin(args **C.char, dims, steps *C.int64_t) *LoopArgs {
	count := len(h.operands)
	l := &LoopArgs{run: h,
		args:  unsafe.Slice((*unsafe.Pointer)(unsafe.Pointer(args)), count),
		dims:  unsafe.Slice((*int)(unsafe.Pointer(dims)), 1+h.sizes),
		steps: unsafe.Slice((*int)(unsafe.Pointer(steps)), count+h.strides)}
	l.items, l.views = l.dims[0], l.few[:min(count, len(l.few))]
	if count > len(l.few) {
		l.views = make([]view, count)
	}
	stride := count
	for i := range h.operands {
		v, empty := &l.views[i], false
		for _, place := range h.operands[i].core {
			span := (l.dims[1+place] - 1) * l.steps[stride]
			v.first, v.last = v.first+min(span, 0), v.last+max(span, 0)
			empty = empty || l.dims[1+place] == 0
			stride++
		}
		if v.step = l.steps[i]; empty {
			v.first, v.last = 1, 0
			continue // do not show the collector an address that may be unmapped
		}
		v.start, v.element = l.args[i], word(h.operands[i].element)
	}
	return l
}

// end clears l, because the library's memory is not valid after the run.
func (l *LoopArgs) end() { *l = LoopArgs{} }

// word returns the first word of an interface value, which identifies its type.
func word(pointer any) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&pointer))[0] }

// Items returns the number of items.
func (l *LoopArgs) Items() int { return l.items }

// Dim returns the number of items for index 0, and the sizes of the distinct core dimensions, in
// order of first use, for index 1 and higher.
func (l *LoopArgs) Dim(index int) int {
	if uint(index) >= uint(len(l.dims)) {
		panic(fmt.Sprintf("LoopArgs.Dim(%d): there are %d", index, len(l.dims)))
	}
	return l.dims[index]
}

// Step returns the byte stride between items of the operand with this index. Higher indices select
// the core strides of each operand in turn.
func (l *LoopArgs) Step(index int) int {
	if uint(index) >= uint(len(l.steps)) {
		panic(fmt.Sprintf("LoopArgs.Step(%d): there are %d", index, len(l.steps)))
	}
	return l.steps[index]
}

// Operand returns the address of an operand's first item, inputs first. Accesses through it are not
// checked; [Item] checks them.
func (l *LoopArgs) Operand(index int) unsafe.Pointer {
	if uint(index) >= uint(len(l.args)) {
		panic(fmt.Sprintf("LoopArgs.Operand(%d): there are %d", index, len(l.args)))
	}
	return l.args[index]
}

// Item returns a pointer to an element of an operand. i is the index of the item. bytes is the
// offset of the element in the item. It is 0 for an elementwise ufunc, and the sum of core indices
// times core strides for a generalized ufunc. Elements of an input must not be written.
//
// T is the Go type of the operand's dtype, or a type defined from that Go type (type Metres
// float64). For structured dtypes T is any type of the same size without pointers. Item panics for
// another type and for an operand, item or offset out of range.
func Item[T any](l *LoopArgs, operand, i, bytes int) *T {
	if uint(operand) < uint(len(l.views)) && uint(i) < uint(l.items) {
		v := &l.views[operand]
		if word((*T)(nil)) == atomic.LoadPointer(&v.element) && bytes >= v.first && bytes <= v.last {
			return (*T)(unsafe.Add(v.start, i*v.step+bytes))
		}
	}
	return (*T)(l.item((*T)(nil), operand, i, bytes))
}

// item is the slow path of Item. It handles types that were not checked before, and panics with a
// message that names the fault if the access is invalid.
func (l *LoopArgs) item(pointer any, operand, i, bytes int) unsafe.Pointer {
	if uint(operand) >= uint(len(l.views)) {
		panic(fmt.Sprintf("gufunc.Item: operand %d of %d", operand, len(l.views)))
	}
	given, v := &l.run.operands[operand], &l.views[operand]
	if element := reflect.TypeOf(pointer).Elem(); !given.holds(pointer, element) {
		panic(fmt.Sprintf("gufunc.Item: operand %d has elements of %v, not %v", operand, given.dtype,
			element))
	}
	atomic.StorePointer(&v.element, word(pointer)) // lets Item skip this check next time
	if uint(i) >= uint(l.items) {
		panic(fmt.Sprintf("gufunc.Item: item %d of %d", i, l.items))
	}
	if bytes < v.first || bytes > v.last {
		panic(fmt.Sprintf("gufunc.Item: %d bytes into an item of operand %d, outside of its elements",
			bytes, operand))
	}
	return unsafe.Add(v.start, i*v.step+bytes)
}

// holds reports whether a Go type can represent the operand's elements.
func (o *loopOperand) holds(pointer any, element reflect.Type) bool {
	if own := dtypeOf(pointer); own != 0 || o.element == nil {
		return own.holds(o.dtype) || o.element == nil && structOf(element, o.dtype) == nil
	}
	return element.Kind() == reflect.TypeOf(o.element).Elem().Kind()
}

// elementwise adds a loop that does not support core dimensions. elementwise rejects a ufunc with a
// signature.
func (u *Ufunc) elementwise(loop Loop, types ...DType) error {
	info, err := u.Info()
	if err != nil {
		return err
	}
	if info.Signature != "" {
		message := "a ufunc with core dimensions does not accept a function of numbers"
		return &Error{ErrSignature, message, -1, -1, 0}
	}
	return u.AddLoop(types, AnyThread, loop)
}

// place is like [Item] without checks: T must be the operand's type, and the item must exist.
func place[T Element](v *view, i int) *T { return (*T)(unsafe.Add(v.start, i*v.step)) }

// AddFunc1 adds an elementwise loop R = f(A). f may run on any thread. AddFunc1 fails with
// ErrSignature for a ufunc with core dimensions, and otherwise with the errors of [Ufunc.AddLoop].
func AddFunc1[R, A Element](u *Ufunc, f func(A) R) error {
	return u.elementwise(func(l *LoopArgs) error {
		a, r := &l.views[0], &l.views[1]
		for i := range l.items {
			*place[R](r, i) = f(*place[A](a, i))
		}
		return nil
	}, DTypeOf[A](), DTypeOf[R]())
}

// AddFunc2 adds an elementwise loop R = f(A, B); see [AddFunc1].
func AddFunc2[R, A, B Element](u *Ufunc, f func(A, B) R) error {
	return u.elementwise(func(l *LoopArgs) error {
		a, b, r := &l.views[0], &l.views[1], &l.views[2]
		for i := range l.items {
			*place[R](r, i) = f(*place[A](a, i), *place[B](b, i))
		}
		return nil
	}, DTypeOf[A](), DTypeOf[B](), DTypeOf[R]())
}

// AddFunc3 adds an elementwise loop R = f(A, B, C); see [AddFunc1].
func AddFunc3[R, A, B, C Element](u *Ufunc, f func(A, B, C) R) error {
	return u.elementwise(func(l *LoopArgs) error {
		a, b, c, r := &l.views[0], &l.views[1], &l.views[2], &l.views[3]
		for i := range l.items {
			*place[R](r, i) = f(*place[A](a, i), *place[B](b, i), *place[C](c, i))
		}
		return nil
	}, DTypeOf[A](), DTypeOf[B](), DTypeOf[C](), DTypeOf[R]())
}
