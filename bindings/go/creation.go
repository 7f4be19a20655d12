// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"runtime"
	"runtime/cgo"
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
