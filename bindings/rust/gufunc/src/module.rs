// SPDX-License-Identifier: Apache-2.0
//! Modules: files of ufuncs and raw kernels that gufcc makes.

use crate::device::path_text;
use crate::handle::counted;
use crate::status::{check, text_of};
use crate::{Context, Kernel, Result};
use gufunc_sys as sys;
use std::ffi::c_char;
use std::path::Path;

counted! {
    /// A loaded module, made by [`load_module`](crate::load_module). The module's ufuncs, loops and
    /// plans also keep the module loaded. The ufuncs can be found as long as the module is loaded.
    Module, guf_module, guf_module_retain, guf_module_release
}

/// Description of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleInfo {
    /// Name of the module, with which the names of its ufuncs begin.
    pub name: String,
    /// Path of the file.
    pub path: String,
    /// Number of ufuncs ([`Module::functions`]).
    pub nfunctions: u32,
    /// Number of compiled images.
    pub nimages: u32,
    /// Number of raw kernels ([`Module::kernels`]).
    pub nkernels: u32,
    /// Whether the module was loaded without running code of the file on the host.
    pub data_only: bool,
}

impl Module {
    pub(crate) fn load(context: &Context, path: &Path, flags: u32) -> Result<Self> {
        let (path, mut raw) = (path_text(path)?, std::ptr::null_mut());
        // SAFETY: the text is NUL-terminated, and the handle pointer is valid.
        check(|error| unsafe {
            sys::guf_module_load(context.as_raw(), path.as_ptr(), flags, &mut raw, error)
        })?;
        Ok(Module { raw })
    }

    /// Returns a description of the module.
    ///
    /// # Errors
    /// Any error that the library reports.
    pub fn info(&self) -> Result<ModuleInfo> {
        let mut info = sys::guf_module_info::new();
        // SAFETY: `struct_size` is the size of the structure.
        check(|error| unsafe { sys::guf_module_get_info(self.raw, &mut info, error) })?;
        Ok(ModuleInfo {
            name: text_of(&info.name),
            path: text_of(&info.path),
            nfunctions: info.nfunctions,
            nimages: info.nimages,
            nkernels: info.nkernels,
            data_only: info.flags & sys::GUF_MODULE_DATA_ONLY != 0,
        })
    }

    /// Returns the full names of the module's ufuncs, for [`Context::ufunc`].
    ///
    /// # Errors
    /// Any error that the library reports.
    pub fn functions(&self) -> Result<Vec<String>> {
        let name_at = |index| {
            // SAFETY: the buffer has the length that is passed.
            named(|name, capacity, error| unsafe {
                sys::guf_module_function_at(self.raw, index, name, capacity, error)
            })
        };
        (0..self.info()?.nfunctions).map(name_at).collect()
    }

    /// Returns the short names of the module's raw kernels, for [`Module::kernel`].
    ///
    /// # Errors
    /// Any error that the library reports.
    pub fn kernels(&self) -> Result<Vec<String>> {
        let name_at = |index| {
            // SAFETY: the buffer has the length that is passed.
            named(|name, capacity, error| unsafe {
                sys::guf_module_kernel_at(self.raw, index, name, capacity, error)
            })
        };
        (0..self.info()?.nkernels).map(name_at).collect()
    }

    /// Finds a raw kernel by its short name, without loading code on a device.
    ///
    /// # Errors
    /// [`Status::NOT_FOUND`](crate::Status::NOT_FOUND).
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let (name, mut raw) = (crate::context::c_string(name)?, std::ptr::null_mut());
        // SAFETY: the text is NUL-terminated, and the handle pointer is valid.
        check(|error| unsafe { sys::guf_kernel_find(self.raw, name.as_ptr(), &mut raw, error) })?;
        // SAFETY: the function returned one reference.
        Ok(unsafe { Kernel::from_raw(raw) })
    }
}

fn named(
    write: impl FnOnce(*mut c_char, u64, *mut sys::guf_error) -> sys::guf_status,
) -> Result<String> {
    let mut name = [0; 256];
    check(|error| write(name.as_mut_ptr(), 256, error))?;
    Ok(text_of(&name))
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.info() {
            Ok(info) => write!(f, "Module({}, {})", info.name, info.path),
            Err(error) => write!(f, "Module({error})"),
        }
    }
}
