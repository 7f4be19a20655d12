// SPDX-License-Identifier: Apache-2.0
//! Arrays whose element type is known only at run time.

use crate::handle::counted;
use crate::status::check;
use crate::{DType, Device, Error, Order, Result, Status, Stream};
use gufunc_sys as sys;
use std::ffi::c_void;
use std::fmt;

counted! {
    /// A reference-counted n-dimensional view of host or device memory, of any dtype.
    ///
    /// An array is a shared handle, like an open file: clones and views share the array's memory
    /// and keep it alive, and calls write through `&self`. Rust accesses the elements only by
    /// copying them. Arrays may be used from any thread. If one thread reads elements while a call
    /// of another thread writes them, the values read are unspecified.
    ///
    /// `Display` formats the values as NumPy does, followed by shape, dtype and device.
    DynArray, guf_array, guf_array_retain, guf_array_release
}

/// The kind of host memory that [`DynArray::alloc_host`] allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum HostMemory {
    /// Page-locked: copies to and from the device need no staging.
    Pinned = sys::GUF_HOST_PINNED,
    /// Page-locked, and used by the device in place.
    Mapped = sys::GUF_HOST_MAPPED,
    /// Migrates to the processor that accesses it.
    Managed = sys::GUF_HOST_MANAGED,
}

/// Description of an array.
#[derive(Clone, Debug)]
pub struct ArrayInfo {
    /// The dtype of the elements.
    pub dtype: DType,
    /// Extents, in elements.
    pub shape: Vec<i64>,
    /// Signed strides in bytes.
    pub strides: Vec<i64>,
    /// Address of element (0, ..., 0).
    pub address: u64,
    /// Number of elements.
    pub size: usize,
    /// `size` times the item size.
    pub nbytes: usize,
    /// `None` for host memory that was wrapped without a device.
    pub device: Option<Device>,
    flags: u32,
}

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident = $flag:ident;)*) => {
        impl ArrayInfo {
            $($(#[$doc])* pub fn $name(&self) -> bool { self.flags & sys::$flag != 0 })*
        }
    };
}

flags! {
    /// Whether the array is rejected as an output.
    is_read_only = GUF_ARRAY_READ_ONLY;
    /// Whether the elements are contiguous with the last axis fastest.
    is_c_contiguous = GUF_ARRAY_C_CONTIGUOUS;
    /// Whether the elements are contiguous with the first axis fastest.
    is_f_contiguous = GUF_ARRAY_F_CONTIGUOUS;
    /// Whether the addresses of all elements are multiples of their alignment.
    is_aligned = GUF_ARRAY_ALIGNED;
    /// Whether the elements have another byte order than the machine.
    is_swapped = GUF_ARRAY_SWAPPED;
    /// Whether the array owns its memory, that is, is not a view.
    owns_data = GUF_ARRAY_OWNS_DATA;
}

impl DynArray {
    /// Allocates an array on a device (`None`: cpu) with layout `order` (`C` or `F`). The values
    /// are unspecified.
    ///
    /// # Errors
    /// [`Status::DTYPE`], [`Status::SHAPE`], [`Status::NO_MEMORY`], [`Status::DEVICE_MEMORY`].
    pub fn alloc(
        device: impl Into<Option<Device>>,
        dtype: DType,
        shape: &[i64],
        order: Order,
    ) -> Result<Self> {
        Self::alloc_as(device.into(), dtype, shape, None, order)
    }

    /// Allocates an array with strides in bytes, which may be negative or leave gaps.
    ///
    /// # Errors
    /// As [`DynArray::alloc`]; [`Status::SHAPE`] if elements overlap.
    pub fn alloc_strided(
        device: impl Into<Option<Device>>,
        dtype: DType,
        shape: &[i64],
        strides: &[i64],
    ) -> Result<Self> {
        same_length("strides", strides, shape)?;
        Self::alloc_as(device.into(), dtype, shape, Some(strides), Order::C)
    }

    fn alloc_as(
        device: Option<Device>,
        dtype: DType,
        shape: &[i64],
        strides: Option<&[i64]>,
        order: Order,
    ) -> Result<Self> {
        let (device, strides) = (raw_device(device), pointer(strides));
        made(|out, error| {
            let (ndim, order) = (count(shape), order as i32);
            // SAFETY: both lists have the length that is passed.
            unsafe {
                let shape = shape.as_ptr();
                sys::guf_array_alloc(device, dtype.0, ndim, shape, strides, order, out, error)
            }
        })
    }

    /// Allocates host memory for use with `device`. The values are unspecified.
    ///
    /// # Errors
    /// As [`DynArray::alloc`]; [`Status::UNSUPPORTED`] if the device has no such memory.
    pub fn alloc_host(
        device: Device,
        memory: HostMemory,
        dtype: DType,
        shape: &[i64],
        order: Order,
    ) -> Result<Self> {
        made(|out, error| {
            let (ndim, strides) = (count(shape), std::ptr::null());
            // SAFETY: the list of extents has the length that is passed.
            unsafe {
                sys::guf_array_alloc_host(
                    device.as_raw(),
                    memory as i32,
                    dtype.0,
                    ndim,
                    shape.as_ptr(),
                    strides,
                    order as i32,
                    out,
                    error,
                )
            }
        })
    }

    /// Wraps memory without a copy. `release` runs once, on any thread, when the last array or view
    /// of the memory is gone.
    ///
    /// # Safety
    /// The conditions of [`Tensor::from_raw`](crate::Tensor::from_raw) hold until `release` runs.
    ///
    /// # Errors
    /// [`Status::ARG`], [`Status::SHAPE`], [`Status::DTYPE`]; `release` is then dropped without
    /// running.
    pub unsafe fn wrap(
        tensor: crate::Tensor<'_>,
        release: impl FnOnce() + Send + 'static,
    ) -> Result<Self> {
        type Release = Box<dyn FnOnce() + Send>;
        unsafe extern "C" fn run(user: *mut c_void, _address: u64) {
            // SAFETY: `user` is the box that is created below, and the library calls `run` once.
            let release = unsafe { Box::from_raw(user.cast::<Release>()) };
            crate::host_loop::quietly(*release);
        }
        let user = Box::into_raw(Box::new(Box::new(release) as Release));
        let (tensor, flags) = (tensor.to_c(), sys::GUF_RELEASE_ANY_THREAD);
        let wrapped = made(|out, error| {
            // SAFETY: the caller guarantees the memory. `run` takes `user` back once.
            unsafe { sys::guf_array_wrap(&tensor, Some(run), user.cast(), flags, out, error) }
        });
        if wrapped.is_err() {
            // SAFETY: after a failure the library never calls `run`.
            drop(unsafe { Box::from_raw(user) });
        }
        wrapped
    }

    /// Returns a description of the array. This is cheap, except for the allocation of the two
    /// lists.
    ///
    /// # Errors
    /// Any error that the library reports.
    pub fn info(&self) -> Result<ArrayInfo> {
        let info = self.raw_info()?;
        let ndim = info.ndim as usize;
        Ok(ArrayInfo {
            dtype: DType(info.dtype),
            shape: info.shape[..ndim].to_vec(),
            strides: info.strides[..ndim].to_vec(),
            address: info.address,
            size: info.size as usize,
            nbytes: info.nbytes as usize,
            device: (!info.device.is_null()).then(|| Device::new(info.device)),
            flags: info.flags,
        })
    }

    pub(crate) fn raw_info(&self) -> Result<sys::guf_array_info> {
        let mut info = sys::guf_array_info::new();
        // SAFETY: `struct_size` is the size of the structure.
        check(|error| unsafe { sys::guf_array_get_info(self.raw, &mut info, error) })?;
        Ok(info)
    }

    /// Returns the extents, in elements.
    ///
    /// # Errors
    /// As [`DynArray::info`].
    pub fn shape(&self) -> Result<Vec<i64>> {
        Ok(self.info()?.shape)
    }

    /// Returns the dtype of the elements.
    ///
    /// # Errors
    /// As [`DynArray::info`].
    pub fn dtype(&self) -> Result<DType> {
        Ok(DType(self.raw_info()?.dtype))
    }
}

impl fmt::Display for DynArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = crate::status::written(|text, length, error| {
            // SAFETY: the buffer has the length that is passed.
            unsafe { sys::guf_array_print(self.raw, text, length, error) }
        });
        match text {
            Ok(text) => f.write_str(&text),
            Err(error) => write!(f, "<{error}>"),
        }
    }
}

impl fmt::Debug for DynArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.info() {
            Ok(info) => write!(f, "DynArray({}, {:?})", info.dtype, info.shape),
            Err(error) => write!(f, "DynArray({error})"),
        }
    }
}

/// Calls a C function that makes an array.
pub(crate) fn made(
    make: impl FnOnce(*mut sys::guf_array, *mut sys::guf_error) -> sys::guf_status,
) -> Result<DynArray> {
    let mut raw = std::ptr::null_mut();
    check(|error| make(&mut raw, error))?;
    Ok(DynArray { raw })
}

pub(crate) fn count<T>(list: &[T]) -> i32 {
    i32::try_from(list.len()).unwrap_or(i32::MAX)
}

pub(crate) fn pointer<T>(list: Option<&[T]>) -> *const T {
    list.map_or(std::ptr::null(), <[T]>::as_ptr)
}

pub(crate) fn raw_stream(stream: Option<&Stream>) -> sys::guf_stream {
    stream.map_or(std::ptr::null_mut(), Stream::as_raw)
}

pub(crate) fn raw_device(device: Option<Device>) -> sys::guf_device {
    device.map_or(std::ptr::null_mut(), Device::as_raw)
}

pub(crate) fn same_length<A, B>(what: &str, list: &[A], shape: &[B]) -> Result<()> {
    if list.len() == shape.len() {
        return Ok(());
    }
    let message = format!("{what}: expected {} numbers, got {}", shape.len(), list.len());
    Err(Error::new(Status::ARG, message))
}
