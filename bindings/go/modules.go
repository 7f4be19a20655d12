// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import "runtime"

// Module is a file of kernels that gufcc compiled. It stays loaded, and its names are found, until
// it is closed: no collector ends it.
type Module struct{ ref handle[C.guf_module] }

// ModuleInfo describes a [Module].
type ModuleInfo struct {
	Name, Path                 string
	Functions, Images, Kernels int
	DataOnly                   bool // no code of the file runs on the host: device images only
}

// LoadModule loads a module and registers its ufuncs as "module:name". Nothing of the file runs
// before its digest holds. Loading the same file again gives the same module. Errors: ErrIO,
// ErrBadFile, ErrABI, ErrExists where another module of that name is loaded.
func LoadModule(path string) (*Module, error) { return (*Context)(nil).LoadModule(path, false) }

// LoadModule is the function LoadModule in a context of its own. With dataOnly no code of the file
// runs: there are no loops for the cpu then.
func (c *Context) LoadModule(path string, dataOnly bool) (*Module, error) {
	defer runtime.KeepAlive(c)
	flags := C.uint32_t(0)
	if dataOnly {
		flags = cGUF_MODULE_DATA_ONLY
	}
	var made C.guf_module
	err := lent(path, func(text *C.char) error {
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

// Info describes the module.
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

// Functions lists the full names of the module's ufuncs, for [Find].
func (m *Module) Functions() ([]string, error) {
	info, err := m.Info()
	if err != nil {
		return nil, err
	}
	return m.names(info.Functions, cModuleFunctionAt)
}

// Kernels lists the short names of the module's raw kernels, for Kernel.
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

// String is the module's name.
func (m *Module) String() string {
	info, err := m.Info()
	if err != nil {
		return "no module"
	}
	return info.Name
}

// Clone is another reference to the same module, to be closed on its own.
func (m *Module) Clone() (*Module, error) {
	return another(m, cModuleRetain, ownModule)
}

// Close gives the reference back; a second time it does nothing. The file stays mapped while
// ufuncs, plans or kernels of it are held.
func (m *Module) Close() error { return m.reference().close() }
