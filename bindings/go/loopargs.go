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

// LoopArgs is what a loop of Go is called with: a stretch of items. It is the loop's until that
// returns. An index that there is not makes its methods, and [Item], panic, as a slice's does: the
// call then fails with ErrLoop and the panic's text.
type LoopArgs struct {
	run         *hostLoop
	items       int
	args        []unsafe.Pointer
	dims, steps []int
	views       []view
	few         [4]view // what views has, mostly
}

// view is an operand in one run of a loop, with the word of a Go type that its elements may be
// taken for. Elements of an item lie from first to last bytes into
// it; of an operand without elements last is below first.
type view struct {
	start             unsafe.Pointer
	element           unsafe.Pointer
	step, first, last int
}

// hostLoop is a loop of Go and what is known of its operands.
type hostLoop struct {
	function Loop
	operands []loopOperand
	sizes    int // distinct core dimensions
	strides  int // of all core dimensions of the operands
}

type loopOperand struct {
	dtype    DType
	itemSize int
	element  any   // a pointer to the Go type of the elements; nil for records
	core     []int // its core dimensions, as places among the distinct ones
}

// The Go types of elements, as pointers to them.
var elementTypes = []any{(*bool)(nil), (*int8)(nil), (*int16)(nil), (*int32)(nil), (*int64)(nil),
	(*uint8)(nil), (*uint16)(nil), (*uint32)(nil), (*uint64)(nil), (*Float16)(nil),
	(*BFloat16)(nil), (*float32)(nil), (*float64)(nil), (*complex64)(nil), (*complex128)(nil),
	(*Time64)(nil), (*Delta64)(nil)}

// newLoop looks up what accesses are checked against. Types that are none, and a wrong number of
// them, the library refuses.
func (u *Ufunc) newLoop(types []DType, loop Loop) (*hostLoop, error) {
	info, err := u.Info()
	if err != nil {
		return nil, err
	}
	if len(info.Signature) >= len(C.guf_ufunc_info{}.signature)-1 { // it may be cut
		return nil, &Error{ErrUnsupported, "the signature is too long for loops of Go", -1, -1, 0}
	}
	core, optional := coreDimensions(info.Signature)
	made := &hostLoop{function: loop, operands: make([]loopOperand, len(types)),
		sizes: len(optional)}
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
			continue // there may be no memory at the address: the collector shall not see it
		}
		v.start, v.element = l.args[i], word(h.operands[i].element)
	}
	return l
}

// end takes from l what is the library's.
func (l *LoopArgs) end() { *l = LoopArgs{} }

// word is the type's word of an interface value.
func word(pointer any) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&pointer))[0] }

// Items is the number of items.
func (l *LoopArgs) Items() int { return l.items }

// Dim is, for 0, the number of items; for 1 and on the sizes of distinct core dimensions in order
// of first use.
func (l *LoopArgs) Dim(index int) int {
	if uint(index) >= uint(len(l.dims)) {
		panic(fmt.Sprintf("LoopArgs.Dim(%d): there are %d", index, len(l.dims)))
	}
	return l.dims[index]
}

// Step is the byte stride of an operand from item to item and, for indices behind the operands, the
// core strides of each operand in turn.
func (l *LoopArgs) Step(index int) int {
	if uint(index) >= uint(len(l.steps)) {
		panic(fmt.Sprintf("LoopArgs.Step(%d): there are %d", index, len(l.steps)))
	}
	return l.steps[index]
}

// Operand is the address of an operand's first item, inputs first. What is done with it nothing
// checks; see [Item].
func (l *LoopArgs) Operand(index int) unsafe.Pointer {
	if uint(index) >= uint(len(l.args)) {
		panic(fmt.Sprintf("LoopArgs.Operand(%d): there are %d", index, len(l.args)))
	}
	return l.args[index]
}

// Item is an element of a loop's operand: of item i, and, for generalized ufuncs, so many bytes
// into it (core indices times core strides). An input's is only read.
//
// T is the Go type of the operand's type, or one made of it (type Metres float64); of records any
// type of their size without pointers. It panics for another one, and for an operand, an item or
// bytes that lie outside of what the loop was given.
func Item[T any](l *LoopArgs, operand, i, bytes int) *T {
	if uint(operand) < uint(len(l.views)) && uint(i) < uint(l.items) {
		v := &l.views[operand]
		if word((*T)(nil)) == atomic.LoadPointer(&v.element) && bytes >= v.first && bytes <= v.last {
			return (*T)(unsafe.Add(v.start, i*v.step+bytes))
		}
	}
	return (*T)(l.item((*T)(nil), operand, i, bytes))
}

// item is Item for the other types, and says what is wrong.
func (l *LoopArgs) item(pointer any, operand, i, bytes int) unsafe.Pointer {
	if uint(operand) >= uint(len(l.views)) {
		panic(fmt.Sprintf("gufunc.Item: operand %d of %d", operand, len(l.views)))
	}
	given, v := &l.run.operands[operand], &l.views[operand]
	if element := reflect.TypeOf(pointer).Elem(); !given.holds(pointer, element) {
		panic(fmt.Sprintf("gufunc.Item: operand %d has elements of %v, not %v", operand, given.dtype,
			element))
	}
	atomic.StorePointer(&v.element, word(pointer)) // no need to look again
	if uint(i) >= uint(l.items) {
		panic(fmt.Sprintf("gufunc.Item: item %d of %d", i, l.items))
	}
	if bytes < v.first || bytes > v.last {
		panic(fmt.Sprintf("gufunc.Item: %d bytes into an item of operand %d, outside of its elements",
			bytes, operand))
	}
	return unsafe.Add(v.start, i*v.step+bytes)
}

// holds reports whether the operand's elements are of a Go type.
func (o *loopOperand) holds(pointer any, element reflect.Type) bool {
	if own := dtypeOf(pointer); own != 0 || o.element == nil {
		return own.holds(o.dtype) || o.element == nil && recordOf(element, o.dtype) == nil
	}
	return element.Kind() == reflect.TypeOf(o.element).Elem().Kind()
}

// elementwise is AddLoop for a loop that looks at elements without core dimensions.
func (u *Ufunc) elementwise(loop Loop, types ...DType) error {
	info, err := u.Info()
	if err != nil {
		return err
	}
	if info.Signature != "" {
		message := "a ufunc with core dimensions takes no function of numbers"
		return &Error{ErrSignature, message, -1, -1, 0}
	}
	return u.AddLoop(types, AnyThread, loop)
}

// place is Item of an operand that is known to be of T and to have the item.
func place[T Element](v *view, i int) *T { return (*T)(unsafe.Add(v.start, i*v.step)) }

// AddFunc1 adds an elementwise loop R = f(A). f runs on any thread. ErrSignature for a ufunc with
// core dimensions; else as [Ufunc.AddLoop].
func AddFunc1[R, A Element](u *Ufunc, f func(A) R) error {
	return u.elementwise(func(l *LoopArgs) error {
		a, r := &l.views[0], &l.views[1]
		for i := range l.items {
			*place[R](r, i) = f(*place[A](a, i))
		}
		return nil
	}, DTypeOf[A](), DTypeOf[R]())
}

// AddFunc2 adds an elementwise loop R = f(A, B), see [AddFunc1].
func AddFunc2[R, A, B Element](u *Ufunc, f func(A, B) R) error {
	return u.elementwise(func(l *LoopArgs) error {
		a, b, r := &l.views[0], &l.views[1], &l.views[2]
		for i := range l.items {
			*place[R](r, i) = f(*place[A](a, i), *place[B](b, i))
		}
		return nil
	}, DTypeOf[A](), DTypeOf[B](), DTypeOf[R]())
}

// AddFunc3 adds an elementwise loop R = f(A, B, C), see [AddFunc1].
func AddFunc3[R, A, B, C Element](u *Ufunc, f func(A, B, C) R) error {
	return u.elementwise(func(l *LoopArgs) error {
		a, b, c, r := &l.views[0], &l.views[1], &l.views[2], &l.views[3]
		for i := range l.items {
			*place[R](r, i) = f(*place[A](a, i), *place[B](b, i), *place[C](c, i))
		}
		return nil
	}, DTypeOf[A](), DTypeOf[B](), DTypeOf[C](), DTypeOf[R]())
}
