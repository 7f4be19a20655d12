// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import (
	"runtime"
)

// Module is a file of kernels that gufcc compiled. The module stays loaded, and its ufuncs can be
// found, until the program closes it. The garbage collector does not close modules.
type Module struct{ ref handle[C.guf_module] }

// ModuleInfo describes a [Module].
type ModuleInfo struct {
	Name, Path                 string
	Functions, Images, Kernels int
	DataOnly                   bool // device images only; no code runs on the host
}

// LoadModule loads a module and registers its ufuncs as "module:name". No code of the file runs
// before its digest is verified. Loading the same file again returns the same module. Errors:
// ErrIO, ErrBadFile, ErrABI, ErrExists if another module of that name is loaded.
func LoadModule(path string) (*Module, error) { return (*Context)(nil).LoadModule(path, false) }

// LoadModule is like the function [LoadModule], for a particular context. With dataOnly no code of
// the file runs on the host, and its ufuncs have no loops for the cpu.
func (c *Context) LoadModule(path string, dataOnly bool) (*Module, error) {
	defer runtime.KeepAlive(c)
	flags := C.uint32_t(0)
	if dataOnly {
		flags = cGUF_MODULE_DATA_ONLY
	}
	var made C.guf_module
	err := withText(path, func(text *C.char) error {
		return cModuleLoad(c.handle(), text, flags, &made)
	})
	if err != nil {
		return nil, err
	}
	return ownModule(made), nil
}

func ownModule(made C.guf_module) *Module {
	m := new(Module)
	m.ref.c, m.ref.release = made, cModuleRelease
	return m
}

func (m *Module) reference() *handle[C.guf_module] {
	if m == nil {
		return nil
	}
	return &m.ref
}

func (m *Module) handle() C.guf_module { return m.reference().value() }

// Info returns a description of the module.
func (m *Module) Info() (ModuleInfo, error) {
	defer runtime.KeepAlive(m)
	var info C.guf_module_info
	info.struct_size = C.sizeof_guf_module_info
	if err := cModuleGetInfo(m.handle(), &info); err != nil {
		return ModuleInfo{}, err
	}
	return ModuleInfo{C.GoString(&info.name[0]), C.GoString(&info.path[0]), int(info.nfunctions),
		int(info.nimages), int(info.nkernels), info.flags&cGUF_MODULE_DATA_ONLY != 0}, nil
}

// Functions returns the full names of the module's ufuncs, for [Find].
func (m *Module) Functions() ([]string, error) {
	info, err := m.Info()
	if err != nil {
		return nil, err
	}
	return m.names(info.Functions, cModuleFunctionAt)
}

// Kernels returns the short names of the module's raw kernels, for [Module.Kernel].
func (m *Module) Kernels() ([]string, error) {
	info, err := m.Info()
	if err != nil {
		return nil, err
	}
	return m.names(info.Kernels, cModuleKernelAt)
}

func (m *Module) names(count int,
	at func(C.guf_module, C.uint32_t, *C.char, C.uint64_t) error) ([]string, error) {
	defer runtime.KeepAlive(m)
	var name [2 * (cGUF_MAX_NAME + 1)]C.char
	found := make([]string, count)
	for i := range found {
		if err := at(m.handle(), C.uint32_t(i), &name[0], C.uint64_t(len(name))); err != nil {
			return nil, err
		}
		found[i] = C.GoString(&name[0])
	}
	return found, nil
}

// String returns the name of the module.
func (m *Module) String() string {
	info, err := m.Info()
	if err != nil {
		return "no module"
	}
	return info.Name
}

// Clone returns another reference to the same module. The caller closes it separately.
func (m *Module) Clone() (*Module, error) {
	return another(m, cModuleRetain, ownModule)
}

// Close releases the reference. Further calls do nothing. The file stays mapped while ufuncs, plans
// or kernels of the module exist.
func (m *Module) Close() error { return m.reference().close() }

// Kernel is a raw kernel of a module: a function that is launched on a grid of blocks of threads.
type Kernel struct{ ref handle[C.guf_kernel] }

// KernelInfo describes a [Kernel].
type KernelInfo struct {
	Name         string // "module:kernel"
	Doc          string
	Parameters   int
	MaxThreads   int  // threads per block, as declared in the source
	SharedBytes  int  // shared memory per block, in addition to KernelOptions.SharedBytes
	Synchronizes bool // the threads of a block may synchronize
}

// ParameterKind is the kind of a parameter of a kernel.
type ParameterKind int32

// Kinds of parameters.
const (
	Number  ParameterKind = cGUF_PARAMETER_NUMBER  // one element, by value
	Pointer ParameterKind = cGUF_PARAMETER_POINTER // first element of a C-contiguous array
	View    ParameterKind = cGUF_PARAMETER_VIEW    // an array of NDim dimensions with any strides
)

// Parameter describes a parameter of a kernel.
type Parameter struct {
	Kind     ParameterKind
	DType    DType
	NDim     int
	ReadOnly bool
}

// KernelDeviceInfo describes the limits and resources of a kernel on one device.
type KernelDeviceInfo struct {
	MaxThreads     int // per block
	MaxSharedBytes int // of shared memory per block, in total
	Registers      int // per thread; 0: unknown
	LocalBytes     int // local memory per thread; also 0 if unknown
	SubgroupSize   int // threads that the hardware runs together
}

// Dim3 is a number of blocks or threads in three dimensions, x first.
type Dim3 [3]int

// D1 returns a one-dimensional grid or block.
func D1(x int) Dim3 { return Dim3{x, 1, 1} }

// D2 returns a two-dimensional grid or block.
func D2(x, y int) Dim3 { return Dim3{x, y, 1} }

// D3 returns a three-dimensional grid or block.
func D3(x, y, z int) Dim3 { return Dim3{x, y, z} }

// Kernel finds a raw kernel by its short name. Kernel fails with ErrNotFound if there is none.
func (m *Module) Kernel(name string) (*Kernel, error) {
	defer runtime.KeepAlive(m)
	var made C.guf_kernel
	err := withText(name, func(text *C.char) error { return cKernelFind(m.handle(), text, &made) })
	if err != nil {
		return nil, err
	}
	return ownKernel(made), nil
}

func ownKernel(c C.guf_kernel) *Kernel { return owner[Kernel](c, cKernelRelease) }

func (k *Kernel) reference() *handle[C.guf_kernel] {
	if k == nil {
		return nil
	}
	return &k.ref
}

func (k *Kernel) handle() C.guf_kernel { return k.reference().value() }

// Info returns a description of the kernel.
func (k *Kernel) Info() (KernelInfo, error) {
	defer runtime.KeepAlive(k)
	var info C.guf_kernel_info
	info.struct_size = C.sizeof_guf_kernel_info
	if err := cKernelGetInfo(k.handle(), &info); err != nil {
		return KernelInfo{}, err
	}
	return KernelInfo{C.GoString(&info.name[0]), C.GoString(&info.doc[0]), int(info.nparameters),
		int(info.max_threads), int(info.shared_bytes),
		info.flags&cGUF_MODULE_KERNEL_SYNCHRONIZES != 0}, nil
}

// Parameter returns a description of the parameter with this index, starting at 0. Parameter fails
// with ErrIndex for an index out of range.
func (k *Kernel) Parameter(index int) (Parameter, error) {
	defer runtime.KeepAlive(k)
	if err := fits(ErrIndex, "index", index); err != nil {
		return Parameter{}, err
	}
	var p C.guf_module_parameter
	err := cKernelGetParameter(k.handle(), C.uint32_t(index), &p)
	return Parameter{ParameterKind(p.kind), DType(p.dtype), int(p.ndim),
		p.flags&cGUF_PARAMETER_READ_ONLY != 0}, err
}

// DeviceInfo returns the limits of a launch on the device. DeviceInfo loads the kernel's code on
// the device, and fails with ErrNoImage if the module has no code for the device.
func (k *Kernel) DeviceInfo(d Device) (KernelDeviceInfo, error) {
	defer runtime.KeepAlive(k)
	var info C.guf_kernel_device_info
	info.struct_size = C.sizeof_guf_kernel_device_info
	if err := cKernelGetDeviceInfo(k.handle(), d.c, &info); err != nil {
		return KernelDeviceInfo{}, err
	}
	return KernelDeviceInfo{int(info.max_threads), int(info.max_shared_bytes), int(info.registers),
		int(info.local_bytes), int(info.subgroup_size)}, nil
}

// KernelOptions contains the options of a launch. A zero field is not set.
type KernelOptions struct {
	Stream      *Stream
	SharedBytes int // of shared memory per block, in addition to KernelInfo.SharedBytes
}

// Launch runs the kernel on a grid of blocks: grid is the number of blocks, block the number of
// threads per block. The kernel runs on the stream's device. Without a stream it runs on the device
// of the arrays, or on the cpu if there are no arrays. args has one operand per parameter: a scalar
// of exactly the parameter's dtype, a weak scalar, or an array of exactly the parameter's dtype. On
// the cpu without a stream, the kernel is complete on return. Otherwise the kernel is queued, and
// the library keeps the arrays alive. Errors: ErrArg, ErrDType, ErrShape, ErrReadOnly,
// ErrDeviceMismatch, ErrNoImage.
func (k *Kernel) Launch(options *KernelOptions, grid, block Dim3, args ...Operand) error {
	if options == nil {
		options = &KernelOptions{}
	}
	defer runtime.KeepAlive(k)
	defer runtime.KeepAlive(options)
	defer runtime.KeepAlive(args)
	err := fits(ErrArg, "grid", grid[:]...)
	if err == nil {
		err = fits(ErrArg, "block", block[:]...)
	}
	if err == nil {
		err = fits(ErrArg, "SharedBytes", options.SharedBytes)
	}
	if err != nil {
		return err
	}
	b := acquireBlock()
	defer b.release()
	sizes := allocateSlice[C.uint32_t](b, 6)
	for i := range 3 {
		sizes[i], sizes[3+i] = C.uint32_t(grid[i]), C.uint32_t(block[i])
	}
	operands := b.operands(len(args) + 1)
	for i, arg := range args {
		b.set(&operands[i], arg)
	}
	return cKernelLaunch(k.handle(), options.Stream.handle(), &sizes[0], &sizes[3],
		C.uint32_t(options.SharedBytes), C.int32_t(len(args)), &operands[0])
}

// String returns the name of the kernel, "module:kernel".
func (k *Kernel) String() string {
	info, err := k.Info()
	if err != nil {
		return "no kernel"
	}
	return info.Name
}

// Clone returns another reference to the same kernel. The caller closes it separately.
func (k *Kernel) Clone() (*Kernel, error) {
	return another(k, cKernelRetain, ownKernel)
}

// Close releases the reference; pending launches complete. Further calls do nothing.
func (k *Kernel) Close() error { return k.reference().close() }
