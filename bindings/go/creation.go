// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"runtime"
	"runtime/cgo"
)

// CoreDims sees the core dimensions of every call of a generalized ufunc and may refuse it: NumPy's
// process_core_dims_func. sizes has one size per distinct dimension in order of first use, -1 where
// nothing says it, which the hook may fill. Its error is the call's failure. It runs on several
// goroutines at once and must not call this package.
type CoreDims func(sizes []int) error

// UfuncDesc describes a ufunc to create. What is zero is not given.
type UfuncDesc struct {
	Name      string // [A-Za-z_][A-Za-z0-9_]*, at most 63 characters
	NIn, NOut int    // with a signature: 0, 0 or equal to it
	Signature string // "": elementwise. NumPy's grammar, "(m,n),(n,p)->(m,p)"; no arrow: no outputs
	Rules     string // beside the signature: "n=value(1); p=m+1"
	Doc       string
	Identity  Identity
	Flags     FunctionFlags
	Roles     []Role // none, or one per operand
	CoreDims  CoreDims
}

// Create makes a ufunc without loops and registers its name. Errors: ErrExists, ErrArg for the
// name, ErrSignature with the place in its message.
func Create(desc UfuncDesc) (*Ufunc, error) { return (*Context)(nil).Create(desc) }

// Create is the function Create in a context of its own.
func (c *Context) Create(desc UfuncDesc) (*Ufunc, error) {
	if err := whole(desc.Name, desc.Signature, desc.Rules, desc.Doc); err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(c)
	b := lend()
	defer b.back()
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
		list := taken[C.int32_t](b, len(desc.Roles))
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

// Loop computes a stretch of items. It runs on the calling goroutine unless it was added with
// AnyThread. An error fails the call, with its text and, if it has one, its Status, else with
// ErrLoop; so does a panic. Of an [Error] the operand, axis and code are told, too. The caller gets
// an [Error] of its own: the loop's does not pass through the library.
type Loop func(l *LoopArgs) error

// LoopFlags says how a loop may be run.
type LoopFlags uint32

// AnyThread: the loop may run on any thread, several at once.
const AnyThread LoopFlags = cGUF_LOOP_ANY_THREAD

// AddLoop adds a loop of Go for these types, inputs first. Host loops run on the cpu only. Errors:
// ErrExists for input types that have a loop, ErrDType, ErrArg.
func (u *Ufunc) AddLoop(types []DType, flags LoopFlags, loop Loop) error {
	defer runtime.KeepAlive(u)
	run, err := u.newLoop(types, loop)
	if err != nil {
		return err
	}
	b := lend()
	defer b.back()
	given := taken[C.guf_dtype](b, len(types)+1)
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

// SetReduction makes a generalized ufunc, the leaf, a reduction with a state: merge takes two
// states and gives one, finish (or nil) makes results of a state. See guf_reduction_desc in
// gufunc/ufunc.h. ErrSignature where the three do not fit, ErrExists where it is one already.
func (u *Ufunc) SetReduction(merge, finish *Ufunc) error {
	defer runtime.KeepAlive(u)
	defer runtime.KeepAlive(merge)
	defer runtime.KeepAlive(finish)
	desc := C.guf_reduction_desc{struct_size: C.sizeof_guf_reduction_desc, merge: merge.handle(),
		finish: finish.handle()}
	return cUfuncSetReduction(u.handle(), &desc)
}

// AddModuleLoop adds a module's kernel as a loop: function's loop with exactly these types, whose
// signature is the ufunc's. ErrNotFound, ErrSignature, ErrExists.
func (u *Ufunc) AddModuleLoop(m *Module, function string, types []DType) error {
	if err := whole(function); err != nil {
		return err
	}
	defer runtime.KeepAlive(u)
	defer runtime.KeepAlive(m)
	b := lend()
	defer b.back()
	given := taken[C.guf_dtype](b, len(types)+1)
	for i, dtype := range types {
		given[i] = C.guf_dtype(dtype)
	}
	return cUfuncAddModuleLoop(u.handle(), m.handle(), b.text(function), C.int32_t(len(types)),
		&given[0])
}
