// SPDX-License-Identifier: Apache-2.0
//! Raw kernels: functions that a program launches with a grid of blocks of its own choice.

use crate::array::{raw_device, raw_stream};
use crate::frame::Frame;
use crate::handle::counted;
use crate::status::{check, text_of};
use crate::{DType, Device, Inputs, Result, Stream};
use gufunc_sys as sys;

counted! {
    /// A raw kernel of a module, which it keeps. [`Module::kernel`](crate::Module::kernel) finds
    /// one.
    Kernel, guf_kernel, guf_kernel_retain, guf_kernel_release
}

/// What a kernel is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// `"module:kernel"`.
    pub name: String,
    /// One line.
    pub doc: String,
    /// For [`Kernel::parameter`].
    pub nparameters: u32,
    /// Of a block, as its source says.
    pub max_threads: u32,
    /// That every launch gives, besides its own.
    pub shared_bytes: u32,
    /// Whether its threads may wait for one another.
    pub synchronises: bool,
}

/// What a kernel can have on one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelDeviceInfo {
    /// Of a block.
    pub max_threads: u32,
    /// Of a block, in all.
    pub max_shared_bytes: u32,
    /// Of a thread; 0: not known.
    pub registers: u32,
    /// Of a thread's own memory beside registers; 0 also: not known.
    pub local_bytes: u32,
    /// Threads that the hardware runs together.
    pub subgroup_size: u32,
}

/// What a parameter of a kernel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// One element, by value.
    Number,
    /// The first element of a C-contiguous array.
    Pointer,
    /// An array of that many dimensions.
    View(usize),
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// What it is.
    pub kind: ParameterKind,
    /// Of the number, or of the array.
    pub dtype: DType,
    /// Whether the kernel only reads the array.
    pub read_only: bool,
}

/// How many blocks of how many threads; x first. Of a number it is that many in x.
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
    /// What the kernel is.
    ///
    /// # Errors
    /// What the library says.
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
            synchronises: info.flags & sys::GUF_MODULE_KERNEL_SYNCHRONISES != 0,
        })
    }

    /// A parameter, counted from 0.
    ///
    /// # Errors
    /// [`Status::INDEX`](crate::Status::INDEX).
    pub fn parameter(&self, index: u32) -> Result<Parameter> {
        let mut raw = sys::guf_module_parameter::new();
        // SAFETY: a place for it.
        check(|error| unsafe { sys::guf_kernel_get_parameter(self.raw, index, &mut raw, error) })?;
        let kind = match raw.kind {
            sys::GUF_PARAMETER_NUMBER => ParameterKind::Number,
            sys::GUF_PARAMETER_POINTER => ParameterKind::Pointer,
            _ => ParameterKind::View(raw.ndim as usize),
        };
        let read_only = raw.flags & sys::GUF_PARAMETER_READ_ONLY != 0;
        Ok(Parameter { kind, dtype: DType(raw.dtype), read_only })
    }

    /// What a launch on a device (`None`: cpu) may ask for. Loads the kernel's code there.
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

    /// Launches `grid` blocks of `block` threads, with `shared_bytes` of shared memory per block
    /// beside what the source asks for. Numbers are [`scalar`](crate::scalar) or
    /// [`weak`](crate::weak); pointers and views are arrays or slices of exactly the dtype, where
    /// the device reads them. Complete on return on the cpu without a stream; where a slice is lent
    /// the launch waits for the stream.
    ///
    /// # Safety
    /// The kernel does what it likes with the memory behind pointers: it must keep to the arrays,
    /// and no two threads of it may race for an element.
    ///
    /// # Errors
    /// [`Status::ARG`](crate::Status::ARG), [`Status::DTYPE`](crate::Status::DTYPE),
    /// [`Status::READ_ONLY`](crate::Status::READ_ONLY),
    /// [`Status::DEVICE_MISMATCH`](crate::Status::DEVICE_MISMATCH),
    /// [`Status::LAUNCH`](crate::Status::LAUNCH) and the rest of `guf_kernel_launch`'s.
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
        // SAFETY: operands of the frame; what the kernel does is the caller's promise.
        check(|error| unsafe {
            let (grid, block) = (grid.as_ptr(), block.as_ptr());
            sys::guf_kernel_launch(kernel, queue, grid, block, shared_bytes, count, list, error)
        })?;
        match stream {
            Some(stream) if arguments.iter().any(crate::Operand::lent) => stream.synchronize(),
            _ => Ok(()),
        }
    }
}
