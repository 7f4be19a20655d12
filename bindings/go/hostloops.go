// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"fmt"
	"reflect"
	"runtime"
	"runtime/cgo"
	"sync/atomic"
	"unsafe"
)

// CoreDims receives the core dimensions of every call of a generalized ufunc and may reject the
// call, like NumPy's process_core_dims_func. sizes has one size per distinct dimension in order of
// first use. A size is -1 if no input determines it; the hook may set such a size. If the hook
// returns an error, the call fails with this error. The hook runs on several goroutines at the same
// time and must not call this package.
type CoreDims func(sizes []int) error

// UfuncDesc describes a ufunc to create. A zero field is not set.
type UfuncDesc struct {
	Name      string // [A-Za-z_][A-Za-z0-9_]*, at most 63 characters
	NIn, NOut int    // with a signature, either 0 and 0 or the signature's counts
	Signature string // "(m,n),(n,p)->(m,p)"; without "->" no outputs; "": elementwise
	Rules     string // additional rules for the signature: "n=value(1); p=m+1"
	Doc       string
	Identity  Identity
	Flags     FunctionFlags
	Roles     []Role // empty, or one per operand
	CoreDims  CoreDims
}

// Create creates a ufunc without loops and registers its name. Errors: ErrExists, ErrArg for an
// invalid name, ErrSignature with the position in its message.
func Create(desc UfuncDesc) (*Ufunc, error) { return (*Context)(nil).Create(desc) }

// Create is like the function [Create], for a particular context.
func (c *Context) Create(desc UfuncDesc) (*Ufunc, error) {
	if err := whole(desc.Name, desc.Signature, desc.Rules, desc.Doc); err != nil {
		return nil, err
	}
	if err := fits(ErrArg, "NIn or NOut", desc.NIn, desc.NOut); err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(c)
	b := acquireBlock()
	defer b.release()
	optional := func(value string) *C.char {
		if value == "" {
			return nil
		}
		return b.text(value)
	}
	given := C.guf_ufunc_desc{struct_size: C.sizeof_guf_ufunc_desc, nin: C.int32_t(desc.NIn),
		nout: C.int32_t(desc.NOut), identity: C.int32_t(desc.Identity),
		flags: C.uint32_t(desc.Flags), nroles: C.int32_t(len(desc.Roles))}
	var roles *C.int32_t
	if len(desc.Roles) > 0 {
		list := allocateSlice[C.int32_t](b, len(desc.Roles))
		for i, role := range desc.Roles {
			list[i] = C.int32_t(role)
		}
		roles = &list[0]
	}
	user := cgo.Handle(0)
	if desc.CoreDims != nil {
		user = cgo.NewHandle(desc.CoreDims)
	}
	var made C.guf_ufunc
	err := failure(C.gufgo_create(c.handle(), given, b.text(desc.Name), optional(desc.Signature),
		optional(desc.Rules), optional(desc.Doc), roles, C.uintptr_t(user), &made))
	if err != nil {
		if user != 0 {
			user.Delete()
		}
		return nil, err
	}
	return ownUfunc(made)
}

// Loop computes the results of consecutive items of a call. A loop runs on the goroutine that makes
// the call, unless the loop was added with AnyThread. If the loop returns an error or panics, the
// call fails. The call reports the error's text, and the error's Status if it has one, otherwise
// ErrLoop. If the error is an [Error], the call also reports its operand, axis and code. The caller
// receives a new [Error], because the loop's error value does not pass through the library.
type Loop func(l *LoopArgs) error

// LoopFlags is a set of properties of a loop.
type LoopFlags uint32

// AnyThread means that the loop may run on any thread, and on several threads at the same time.
const AnyThread LoopFlags = cGUF_LOOP_ANY_THREAD

// AddLoop adds a loop implemented in Go for these dtypes, inputs first. Such loops run on the cpu
// only. Errors: ErrExists if a loop for the input dtypes exists, ErrDType, ErrArg.
func (u *Ufunc) AddLoop(types []DType, flags LoopFlags, loop Loop) error {
	defer runtime.KeepAlive(u)
	run, err := u.newLoop(types, loop)
	if err != nil {
		return err
	}
	b := acquireBlock()
	defer b.release()
	given := allocateSlice[C.guf_dtype](b, len(types)+1)
	for i, dtype := range types {
		given[i] = C.guf_dtype(dtype)
	}
	user := cgo.NewHandle(run)
	err = failure(C.gufgo_add_loop(u.handle(), C.uint32_t(flags), C.int32_t(len(types)), &given[0],
		C.uintptr_t(user)))
	if err != nil {
		user.Delete()
	}
	return err
}

// SetReduction makes a generalized ufunc a reduction with a user-defined accumulator. The ufunc
// itself computes an accumulator from elements, merge combines two accumulators into one, and
// finish computes the results from an accumulator. finish may be nil. See guf_reduction_desc in
// gufunc/ufunc.h. Errors: ErrSignature if the signatures of the three ufuncs do not match,
// ErrExists if the ufunc is already a reduction.
func (u *Ufunc) SetReduction(merge, finish *Ufunc) error {
	defer runtime.KeepAlive(u)
	defer runtime.KeepAlive(merge)
	defer runtime.KeepAlive(finish)
	desc := C.guf_reduction_desc{struct_size: C.sizeof_guf_reduction_desc, merge: merge.handle(),
		finish: finish.handle()}
	return cUfuncSetReduction(u.handle(), &desc)
}

// AddModuleLoop adds a kernel of a module to the ufunc: the loop of the module's function that has
// exactly these dtypes. The function must have the same signature as the ufunc. Errors:
// ErrNotFound, ErrSignature, ErrExists.
func (u *Ufunc) AddModuleLoop(m *Module, function string, types []DType) error {
	if err := whole(function); err != nil {
		return err
	}
	defer runtime.KeepAlive(u)
	defer runtime.KeepAlive(m)
	b := acquireBlock()
	defer b.release()
	given := allocateSlice[C.guf_dtype](b, len(types)+1)
	for i, dtype := range types {
		given[i] = C.guf_dtype(dtype)
	}
	return cUfuncAddModuleLoop(u.handle(), m.handle(), b.text(function), C.int32_t(len(types)),
		&given[0])
}

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
// a different type and for an operand, item or offset out of range.
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
