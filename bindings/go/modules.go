// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import "runtime"

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
