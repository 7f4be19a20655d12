// SPDX-License-Identifier: Apache-2.0
//! Modules, which are files that gufcc makes, and their raw kernels, which are functions that a
//! program launches on a grid that it chooses.

use crate::array::{raw_device, raw_stream};
use crate::device::path_text;
use crate::handle::counted;
use crate::operand::Frame;
use crate::status::{check, text_of};
use crate::{Context, DType, Device, Inputs, Result, Stream};
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

counted! {
    /// A raw kernel of a module, found by [`Module::kernel`](crate::Module::kernel). The kernel
    /// keeps the module loaded.
    Kernel, guf_kernel, guf_kernel_retain, guf_kernel_release
}

/// Description of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// `"module:kernel"`.
    pub name: String,
    /// One-line description.
    pub doc: String,
    /// Number of parameters, for [`Kernel::parameter`].
    pub nparameters: u32,
    /// Threads per block, as declared in the source.
    pub max_threads: u32,
    /// Bytes of shared memory per block of every launch, in addition to the bytes that the launch
    /// requests.
    pub shared_bytes: u32,
    /// Whether the threads of a block may synchronize.
    pub synchronizes: bool,
}

/// Limits and resources of a kernel on one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelDeviceInfo {
    /// Maximum number of threads per block.
    pub max_threads: u32,
    /// Maximum number of bytes of shared memory per block.
    pub max_shared_bytes: u32,
    /// Registers per thread; 0: unknown.
    pub registers: u32,
    /// Bytes of local memory per thread, such as spilled registers; also 0 if unknown.
    pub local_bytes: u32,
    /// Threads that the hardware runs together.
    pub subgroup_size: u32,
}

/// The kind of a parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// One element, by value.
    Number,
    /// The address of the first element of a C-contiguous array.
    Pointer,
    /// An array with this number of dimensions.
    View(usize),
}

/// Description of a parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The kind of the parameter.
    pub kind: ParameterKind,
    /// The dtype of the number or array.
    pub dtype: DType,
    /// Whether the kernel only reads the array.
    pub read_only: bool,
}

/// A number of blocks or threads in three dimensions, x first. An integer converts to a `Dim3`
/// whose y and z are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3(pub u32, pub u32, pub u32);

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Dim3(x, 1, 1)
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Dim3(x, y, 1)
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Dim3(x, y, z)
    }
}

impl Kernel {
    /// Returns a description of the kernel.
    ///
    /// # Errors
    /// Any error that the library reports.
    pub fn info(&self) -> Result<KernelInfo> {
        let mut info = sys::guf_kernel_info::new();
        // SAFETY: `struct_size` is the size of the structure.
        check(|error| unsafe { sys::guf_kernel_get_info(self.raw, &mut info, error) })?;
        Ok(KernelInfo {
            name: text_of(&info.name),
            doc: text_of(&info.doc),
            nparameters: info.nparameters,
            max_threads: info.max_threads,
            shared_bytes: info.shared_bytes,
            synchronizes: info.flags & sys::GUF_MODULE_KERNEL_SYNCHRONIZES != 0,
        })
    }

    /// Returns the description of a parameter; the first parameter has index 0.
    ///
    /// # Errors
    /// [`Status::INDEX`](crate::Status::INDEX).
    pub fn parameter(&self, index: u32) -> Result<Parameter> {
        let mut raw = sys::guf_module_parameter::new();
        // SAFETY: the result pointer is valid for the call.
        check(|error| unsafe { sys::guf_kernel_get_parameter(self.raw, index, &mut raw, error) })?;
        let kind = match raw.kind {
            sys::GUF_PARAMETER_NUMBER => ParameterKind::Number,
            sys::GUF_PARAMETER_POINTER => ParameterKind::Pointer,
            _ => ParameterKind::View(raw.ndim as usize),
        };
        let read_only = raw.flags & sys::GUF_PARAMETER_READ_ONLY != 0;
        Ok(Parameter { kind, dtype: DType(raw.dtype), read_only })
    }

    /// Returns the limits of a launch on a device (`None`: cpu). Loads the kernel's code on the
    /// device.
    ///
    /// # Errors
    /// [`Status::NO_IMAGE`](crate::Status::NO_IMAGE),
    /// [`Status::UNSUPPORTED`](crate::Status::UNSUPPORTED).
    pub fn device_info(&self, device: impl Into<Option<Device>>) -> Result<KernelDeviceInfo> {
        let (mut info, device) = (sys::guf_kernel_device_info::new(), raw_device(device.into()));
        // SAFETY: `struct_size` is the size of the structure.
        check(|error| unsafe {
            sys::guf_kernel_get_device_info(self.raw, device, &mut info, error)
        })?;
        Ok(KernelDeviceInfo {
            max_threads: info.max_threads,
            max_shared_bytes: info.max_shared_bytes,
            registers: info.registers,
            local_bytes: info.local_bytes,
            subgroup_size: info.subgroup_size,
        })
    }

    /// Launches `grid` blocks of `block` threads, with `shared_bytes` of shared memory per block in
    /// addition to the bytes that the source declares. Arguments for numbers are
    /// [`scalar`](crate::scalar) or [`weak`](crate::weak). Arguments for pointers and views are
    /// arrays or slices of exactly the dtype, in memory that the device can read. On the cpu
    /// without a stream, the launch is complete on return. If an argument is a slice, the launch
    /// waits for the stream.
    ///
    /// # Safety
    /// The memory accesses of the kernel are not checked. The kernel must not access memory outside
    /// the arrays, and its threads must not race for an element.
    ///
    /// # Errors
    /// [`Status::ARG`](crate::Status::ARG), [`Status::DTYPE`](crate::Status::DTYPE),
    /// [`Status::READ_ONLY`](crate::Status::READ_ONLY),
    /// [`Status::DEVICE_MISMATCH`](crate::Status::DEVICE_MISMATCH),
    /// [`Status::LAUNCH`](crate::Status::LAUNCH) and the other errors of `guf_kernel_launch`.
    pub unsafe fn launch<'a>(
        &self,
        grid: impl Into<Dim3>,
        block: impl Into<Dim3>,
        shared_bytes: u32,
        arguments: impl Inputs<'a>,
        stream: Option<&Stream>,
    ) -> Result<()> {
        let (grid, block) = (grid.into(), block.into());
        let (grid, block) = ([grid.0, grid.1, grid.2], [block.0, block.1, block.2]);
        let arguments = arguments.into_inputs();
        let arguments = arguments.as_ref();
        let mut frame = Frame::new();
        let (count, list) = (arguments.len() as i32, frame.place_all(arguments.iter())?);
        let (kernel, queue) = (self.raw, raw_stream(stream));
        // SAFETY: the operands are in the frame, and the caller guarantees the accesses of the
        // kernel.
        check(|error| unsafe {
            let (grid, block) = (grid.as_ptr(), block.as_ptr());
            sys::guf_kernel_launch(kernel, queue, grid, block, shared_bytes, count, list, error)
        })?;
        match stream {
            Some(stream) if arguments.iter().any(crate::Operand::is_borrowed) => {
                stream.synchronize()
            }
            _ => Ok(()),
        }
    }
}
