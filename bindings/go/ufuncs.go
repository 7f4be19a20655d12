// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import "runtime"

// Ufunc is a universal function that is part of the library, belongs to a module, or was created by
// this program. It may be called from any number of goroutines.
type Ufunc struct {
	ref       handle[C.guf_ufunc]
	nin, nout int
}

// Identity is the result of a reduction over no elements.
type Identity int32

// Identities.
const (
	NoIdentity  Identity = cGUF_IDENTITY_NONE        // no identity; the order of elements matters
	Reorderable Identity = cGUF_IDENTITY_REORDERABLE // no identity; axes may be reduced in any order
	Zero        Identity = cGUF_IDENTITY_ZERO
	One         Identity = cGUF_IDENTITY_ONE
	MinusOne    Identity = cGUF_IDENTITY_MINUS_ONE
	MinusInf    Identity = cGUF_IDENTITY_MINUS_INF
)

// Role is the use of an operand by a ufunc.
type Role int32

// Roles.
const (
	In    Role = cGUF_ROLE_IN
	Out   Role = cGUF_ROLE_OUT
	InOut Role = cGUF_ROLE_INOUT
)

// FunctionFlags is a set of properties of a ufunc.
type FunctionFlags uint32

// Properties of ufuncs.
const (
	InplaceSafe  FunctionFlags = cGUF_FUNCTION_INPLACE_SAFE // an output may be the view of an input
	Commutative  FunctionFlags = cGUF_FUNCTION_COMMUTATIVE
	Associative  FunctionFlags = cGUF_FUNCTION_ASSOCIATIVE
	Fast         FunctionFlags = cGUF_FUNCTION_FAST          // compiled with contraction (fma)
	Underflows   FunctionFlags = cGUF_FUNCTION_UNDERFLOWS    // a tiny result raises Underflow
	Divides      FunctionFlags = cGUF_FUNCTION_DIVIDES       // the last input is a divisor
	AcceptsEmpty FunctionFlags = cGUF_FUNCTION_ACCEPTS_EMPTY // allows reductions over no elements
	Overwrites   FunctionFlags = cGUF_FUNCTION_OVERWRITES    // kernels overwrite a copy of input 0
	// Results of F64 and C128 that Reduce allocates have the precision of the elements.
	KeepsPrecision FunctionFlags = cGUF_FUNCTION_KEEPS_PRECISION
)

// UfuncInfo describes a [Ufunc].
type UfuncInfo struct {
	Name          string // with the prefix "module:" for a ufunc of a module
	Signature     string // "" for an elementwise ufunc
	Rules         string
	Doc           string
	NIn, NOut     int
	Loops         int
	Identity      Identity
	Flags         FunctionFlags
	Roles         []Role    // of NIn + NOut operands
	Results       int       // number of results of a user-defined accumulator; else 0
	Merge, Finish string    // ufuncs of a user-defined accumulator; "" if absent
	CoreDims      []CoreDim // the distinct core dimensions, in order of first use
	Core          [][]int   // the core dimensions of each operand, as indices into CoreDims
}

// CoreDim describes a core dimension of a signature.
type CoreDim struct {
	Optional      bool // "n?": operands may lack the dimension
	Broadcastable bool // "n|1": an operand may have extent 1
	Size          int  // the fixed size, or -1
}

// Find finds a ufunc by name: "add", "module:name", or the short name of a module's ufunc if it is
// unique. Find fails with ErrNotFound; the message contains the most similar name.
func Find(name string) (*Ufunc, error) { return (*Context)(nil).Find(name) }

// Find is like the function [Find], for a particular context.
func (c *Context) Find(name string) (*Ufunc, error) {
	defer runtime.KeepAlive(c)
	var made C.guf_ufunc
	err := withText(name, func(text *C.char) error { return cUfuncFind(c.handle(), text, &made) })
	if err != nil {
		return nil, err
	}
	return ownUfunc(made)
}

// MustFind is like [Find], for a name that must exist. MustFind panics if Find fails.
func MustFind(name string) *Ufunc {
	u, err := Find(name)
	if err != nil {
		panic(err)
	}
	return u
}

func ownUfunc(made C.guf_ufunc) (*Ufunc, error) {
	u := owner[Ufunc](made, cUfuncRelease)
	info, err := u.Info()
	u.nin, u.nout = info.NIn, info.NOut
	return u, err
}

func (u *Ufunc) reference() *handle[C.guf_ufunc] {
	if u == nil {
		return nil
	}
	return &u.ref
}

func (u *Ufunc) handle() C.guf_ufunc { return u.reference().value() }

// Names returns the full names of all ufuncs, sorted.
func Names() ([]string, error) { return (*Context)(nil).Names() }

// Names is like the function [Names], for a particular context.
func (c *Context) Names() ([]string, error) {
	defer runtime.KeepAlive(c)
	var count C.uint32_t
	if err := cUfuncCount(c.handle(), &count); err != nil {
		return nil, err
	}
	var name [2 * (cGUF_MAX_NAME + 1)]C.char
	found := make([]string, count)
	for i := range found {
		err := cUfuncNameAt(c.handle(), C.uint32_t(i), &name[0], C.uint64_t(len(name)))
		if err != nil {
			return nil, err
		}
		found[i] = C.GoString(&name[0])
	}
	return found, nil
}

// Info returns a description of the ufunc.
func (u *Ufunc) Info() (UfuncInfo, error) {
	defer runtime.KeepAlive(u)
	var info C.guf_ufunc_info
	info.struct_size = C.sizeof_guf_ufunc_info
	if err := cUfuncGetInfo(u.handle(), &info); err != nil {
		return UfuncInfo{}, err
	}
	roles := make([]Role, int(info.nin+info.nout))
	for i := range roles {
		roles[i] = Role(info.roles[i])
	}
	dims := make([]CoreDim, info.ncore)
	for i := range dims {
		flags := info.core_flags[i]
		dims[i] = CoreDim{flags&cGUF_CORE_DIM_OPTIONAL != 0,
			flags&cGUF_CORE_DIM_BROADCASTABLE != 0, int(info.core_sizes[i])}
	}
	core, next := make([][]int, len(roles)), 0
	for i := range core {
		core[i] = make([]int, info.core_ndim[i])
		for k := range core[i] {
			core[i][k] = int(info.core_dims[next])
			next++
		}
	}
	return UfuncInfo{C.GoString(&info.name[0]), C.GoString(&info.signature[0]),
		C.GoString(&info.rules[0]), C.GoString(&info.doc[0]), int(info.nin), int(info.nout),
		int(info.nloops), Identity(info.identity), FunctionFlags(info.flags), roles,
		int(info.nresults), C.GoString(&info.merge[0]), C.GoString(&info.finish[0]), dims, core}, nil
}

// LoopTypes returns the dtypes of a loop, inputs first. Loops are numbered in the order in which a
// call tries them. LoopTypes fails with ErrIndex for an index out of range.
func (u *Ufunc) LoopTypes(index int) ([]DType, error) {
	defer runtime.KeepAlive(u)
	if err := fits(ErrIndex, "index", index); err != nil {
		return nil, err
	}
	var types [cGUF_MAX_OPERANDS]C.guf_dtype
	err := cUfuncLoopTypes(u.handle(), C.uint32_t(index), C.int32_t(len(types)), &types[0])
	if err != nil {
		return nil, err
	}
	made := make([]DType, u.nin+u.nout)
	for i := range made {
		made[i] = DType(types[i])
	}
	return made, nil
}

// String returns the name of the ufunc, followed by its signature if it has one.
func (u *Ufunc) String() string {
	info, err := u.Info()
	if err != nil {
		return "no ufunc"
	}
	return info.Name + info.Signature
}

// Clone returns another reference to the same ufunc. The caller closes it separately.
func (u *Ufunc) Clone() (*Ufunc, error) {
	return another(u, cUfuncRetain, func(c C.guf_ufunc) *Ufunc {
		clone := owner[Ufunc](c, cUfuncRelease)
		clone.nin, clone.nout = u.nin, u.nout
		return clone
	})
}

// Close releases the reference. Further calls do nothing. A registered ufunc can still be found by
// name.
func (u *Ufunc) Close() error { return u.reference().close() }
