// SPDX-License-Identifier: Apache-2.0
//! Arrays whose element type is known only at run time, their views, which share the memory, and
//! copies between arrays, devices and memory of the program.

use crate::context::nanoseconds;
use crate::dtype::bytes_of;
use crate::handle::counted;
use crate::status::{check, run};
use crate::{Casting, DType, Device, Element, Error, Operand, Result, Status, Stream};
use gufunc_sys as sys;
use std::ffi::c_void;
use std::fmt;
use std::time::Duration;

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
    /// Whether the byte order of the elements differs from the machine's.
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

/// The layout of elements in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Order {
    /// Keep the layout of the source.
    #[default]
    Keep = sys::GUF_ORDER_KEEP,
    /// The last axis is the fastest.
    C = sys::GUF_ORDER_C,
    /// The first axis is the fastest.
    F = sys::GUF_ORDER_F,
    /// `F` if the source is F- and not C-contiguous, otherwise `C`.
    Any = sys::GUF_ORDER_ANY,
}

/// The selection of elements on one axis: `Slice::ALL`, a range, or a range with a step. Negative
/// bounds count from the end, as in Python.
///
/// ```
/// # use gufunc::{Array, Slice};
/// let x = Array::from_vec(vec![0, 1, 2, 3, 4], &[5])?;
/// assert_eq!(x.slice(&[(1..4).into()])?.to_vec()?, [1, 2, 3]);
/// assert_eq!(x.slice(&[Slice::ALL.step(-2)])?.to_vec()?, [4, 2, 0]);
/// # Ok::<(), gufunc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The first index; `None`: the beginning, or the end for a negative step.
    pub start: Option<i64>,
    /// The index after the last one; `None`: no bound.
    pub stop: Option<i64>,
    /// The step, which must not be 0.
    pub step: i64,
}

impl Slice {
    /// The whole axis.
    pub const ALL: Slice = Slice { start: None, stop: None, step: 1 };

    /// Returns the same bounds with a different step.
    pub const fn step(self, step: i64) -> Self {
        Slice { step, ..self }
    }
}

impl From<std::ops::Range<i64>> for Slice {
    fn from(range: std::ops::Range<i64>) -> Self {
        Slice { start: Some(range.start), stop: Some(range.end), step: 1 }
    }
}

impl From<std::ops::RangeFrom<i64>> for Slice {
    fn from(range: std::ops::RangeFrom<i64>) -> Self {
        Slice { start: Some(range.start), ..Slice::ALL }
    }
}

impl From<std::ops::RangeTo<i64>> for Slice {
    fn from(range: std::ops::RangeTo<i64>) -> Self {
        Slice { stop: Some(range.end), ..Slice::ALL }
    }
}

/// Returns the index after an inclusive bound. Returns `None` for -1, the last element, because no
/// negative index denotes the position after it.
fn behind(last: i64) -> Option<i64> {
    match last {
        -1 => None,
        _ => Some(last.saturating_add(1)),
    }
}

impl From<std::ops::RangeInclusive<i64>> for Slice {
    fn from(range: std::ops::RangeInclusive<i64>) -> Self {
        Slice { start: Some(*range.start()), stop: behind(*range.end()), step: 1 }
    }
}

impl From<std::ops::RangeToInclusive<i64>> for Slice {
    fn from(range: std::ops::RangeToInclusive<i64>) -> Self {
        Slice { stop: behind(range.end), ..Slice::ALL }
    }
}

impl From<std::ops::RangeFull> for Slice {
    fn from(_: std::ops::RangeFull) -> Self {
        Slice::ALL
    }
}

impl DynArray {
    /// Returns the view `a[start:stop:step, ...]`, with one [`Slice`] per axis. Axes without a
    /// slice are kept whole.
    ///
    /// # Errors
    /// `INDEX` for more slices than axes, `VALUE` for a step of 0.
    pub fn slice(&self, slices: &[Slice]) -> Result<Self> {
        let bound = |bound: Option<i64>| bound.unwrap_or(i64::MIN);
        let starts: Vec<i64> = slices.iter().map(|s| bound(s.start)).collect();
        let stops: Vec<i64> = slices.iter().map(|s| bound(s.stop)).collect();
        let steps: Vec<i64> = slices.iter().map(|s| s.step).collect();
        let (starts, stops, steps) = (starts.as_ptr(), stops.as_ptr(), steps.as_ptr());
        // SAFETY: the three lists have the length that is passed.
        made(|out, error| unsafe {
            sys::guf_array_slice(self.as_raw(), count(slices), starts, stops, steps, out, error)
        })
    }

    /// Returns the elements with a different shape, in `order` (C, F or Any). One extent may be -1.
    /// The result is a view of the array if the strides allow a view, otherwise a view of a copy,
    /// as in NumPy.
    ///
    /// ```
    /// # use gufunc::{Array, Order};
    /// let x = Array::from_vec(vec![0, 1, 2, 3, 4, 5], &[2, 3])?;
    /// let transposed = x.transpose(None)?.reshape(&[2, -1], Order::C)?;
    /// assert_eq!(transposed.to_vec()?, [0, 3, 1, 4, 2, 5]);
    /// # Ok::<(), gufunc::Error>(())
    /// ```
    ///
    /// # Errors
    /// `SHAPE`, `ARG`; for the copy `NO_MEMORY`, `DEVICE_MEMORY`.
    pub fn reshape(&self, shape: &[i64], order: Order) -> Result<Self> {
        let ndim = count(shape);
        let view = |array: &Self| {
            // SAFETY: the list has the length that is passed.
            made(|out, error| unsafe {
                let (shape, order) = (shape.as_ptr(), order as i32);
                sys::guf_array_reshape(array.as_raw(), ndim, shape, order, out, error)
            })
        };
        self.viewed_or_copied(order, view)
    }

    /// Returns the elements in one dimension, in `order`: a view if the strides allow one,
    /// otherwise a copy.
    ///
    /// # Errors
    /// As [`DynArray::reshape`].
    pub fn ravel(&self, order: Order) -> Result<Self> {
        self.viewed_or_copied(order, |array| {
            // SAFETY: the function accepts any handle.
            made(|out, error| unsafe {
                sys::guf_array_ravel(array.as_raw(), order as i32, out, error)
            })
        })
    }

    // Returns the result of `view` for this array or, if the array's strides allow no view, for a
    // copy with layout `order`.
    fn viewed_or_copied(&self, order: Order, view: impl Fn(&Self) -> Result<Self>) -> Result<Self> {
        match view(self) {
            Err(error) if error.status() == Status::UNSUPPORTED => view(&self.copy(order, None)?),
            other => other,
        }
    }

    /// Permutes axes: axis i of the result is axis `axes[i]` of the array. `None` reverses the
    /// axes.
    ///
    /// # Errors
    /// `VALUE` for a wrong number of axes, `AXIS`.
    pub fn transpose(&self, axes: Option<&[i64]>) -> Result<Self> {
        let (naxes, axes) = (axes.map_or(0, count), pointer(axes));
        // SAFETY: the list is NULL or has the length that is passed.
        made(|out, error| unsafe {
            sys::guf_array_transpose(self.as_raw(), naxes, axes, out, error)
        })
    }

    /// Returns a read-only view of the given shape, in which axes of extent 1 are repeated.
    ///
    /// # Errors
    /// `SHAPE`.
    pub fn broadcast_to(&self, shape: &[i64]) -> Result<Self> {
        let ndim = count(shape);
        // SAFETY: the list has the length that is passed.
        made(|out, error| unsafe {
            sys::guf_array_broadcast_to(self.as_raw(), ndim, shape.as_ptr(), out, error)
        })
    }

    /// Removes the given axes, which must have extent 1. `None` removes all axes of extent 1.
    ///
    /// # Errors
    /// `AXIS` if an axis is out of bounds or repeated; `SHAPE` if the extent of a given axis is not
    /// 1.
    pub fn squeeze(&self, axes: Option<&[i64]>) -> Result<Self> {
        let (naxes, axes) = (axes.map_or(0, count), pointer(axes));
        // SAFETY: the list is NULL or has the length that is passed.
        made(|out, error| unsafe { sys::guf_array_squeeze(self.as_raw(), naxes, axes, out, error) })
    }

    /// Inserts axes of extent 1 at the positions `axes` of the result.
    ///
    /// # Errors
    /// `AXIS`, `SHAPE`.
    pub fn expand_dims(&self, axes: &[i64]) -> Result<Self> {
        // SAFETY: the list has the length that is passed.
        made(|out, error| unsafe {
            sys::guf_array_expand_dims(self.as_raw(), count(axes), axes.as_ptr(), out, error)
        })
    }

    /// Returns a read-only view of sliding windows over the given axes, like NumPy's
    /// sliding_window_view. Each of these axes shrinks, and a new last axis has the extent of its
    /// window.
    ///
    /// # Errors
    /// `AXIS`; `SHAPE` for a window below 1 or above the extent of its axis; `ARG` if the lengths
    /// of the lists differ.
    pub fn sliding_window_view(&self, windows: &[i64], axes: &[i64]) -> Result<Self> {
        same_length("windows", windows, axes)?;
        let (naxes, axes) = (count(axes), axes.as_ptr());
        // SAFETY: both lists have the length that is passed.
        made(|out, error| unsafe {
            let windows = windows.as_ptr();
            sys::guf_array_sliding_window(self.as_raw(), naxes, axes, windows, out, error)
        })
    }
}

impl DynArray {
    /// Sets every element to a scalar ([`scalar`](crate::scalar), [`weak`](crate::weak)), queued on
    /// a stream if one is given.
    ///
    /// # Errors
    /// [`Status::READ_ONLY`]; [`Status::OVERFLOW`] for a weak integer that does not fit into the
    /// dtype; [`Status::ARG`] if the value is not a scalar.
    pub fn fill(&self, value: Operand<'_>, stream: Option<&Stream>) -> Result<()> {
        let mut frame = crate::operand::Frame::new();
        let value = frame.place(&value)?;
        // SAFETY: the operand is in the frame, which outlives the call.
        check(|error| unsafe {
            sys::guf_array_fill(self.as_raw(), value, raw_stream(stream), error)
        })
    }

    /// Returns a copy of the same dtype on the same device, with layout `order`.
    ///
    /// # Errors
    /// [`Status::NO_MEMORY`], [`Status::DEVICE_MEMORY`].
    pub fn copy(&self, order: Order, stream: Option<&Stream>) -> Result<Self> {
        let stream = raw_stream(stream);
        // SAFETY: the function accepts any handle.
        made(|out, error| unsafe {
            sys::guf_array_copy(self.as_raw(), order as i32, stream, out, error)
        })
    }

    /// Copies `source` into this array, with broadcasting and casting.
    ///
    /// # Errors
    /// [`Status::CASTING`], [`Status::SHAPE`], [`Status::READ_ONLY`], [`Status::OVERLAP`].
    pub fn assign(
        &self,
        source: &DynArray,
        casting: Casting,
        stream: Option<&Stream>,
    ) -> Result<()> {
        let (casting, stream) = (casting as i32, raw_stream(stream));
        // SAFETY: the function accepts any handle.
        check(|error| unsafe {
            sys::guf_array_assign(self.as_raw(), source.as_raw(), casting, stream, error)
        })
    }

    /// Returns a copy of a different dtype.
    ///
    /// # Errors
    /// [`Status::DTYPE`], [`Status::CASTING`], and as [`DynArray::copy`].
    pub fn astype(
        &self,
        dtype: DType,
        casting: Casting,
        order: Order,
        stream: Option<&Stream>,
    ) -> Result<Self> {
        let (casting, order, stream) = (casting as i32, order as i32, raw_stream(stream));
        // SAFETY: the function accepts any handle.
        made(|out, error| unsafe {
            sys::guf_array_astype(self.as_raw(), dtype.0, casting, order, stream, out, error)
        })
    }

    /// Returns a copy on `device`.
    ///
    /// # Errors
    /// [`Status::NO_MEMORY`], [`Status::DEVICE_MEMORY`].
    pub fn to_device(&self, device: Device, stream: Option<&Stream>) -> Result<Self> {
        let stream = raw_stream(stream);
        // SAFETY: the function accepts any handle.
        made(|out, error| unsafe {
            sys::guf_array_to_device(self.as_raw(), device.as_raw(), stream, out, error)
        })
    }

    /// Copies into `destination`, an array of the same dtype and shape on any device.
    ///
    /// # Errors
    /// [`Status::DTYPE`], [`Status::SHAPE`], [`Status::READ_ONLY`].
    pub fn copy_to(&self, destination: &DynArray, stream: Option<&Stream>) -> Result<()> {
        let (device, stream) = (destination.raw_info()?.device, raw_stream(stream));
        let mut raw = destination.as_raw();
        // SAFETY: the pointer refers to a handle, which the function does not change.
        check(|error| unsafe {
            sys::guf_array_to_device(self.as_raw(), device, stream, &mut raw, error)
        })
    }

    /// Waits at most `timeout` for all work on the array that was submitted to the library, on any
    /// stream, including the device's default stream. Returns `false` if work is still running.
    /// Failures of the work are not reported here, but by the stream or device of the work. Blocks.
    ///
    /// # Errors
    /// [`Status::CAPTURE`] if a stream with this work is being captured, [`Status::NO_MEMORY`].
    pub fn synchronize(&self, timeout: Option<Duration>) -> Result<bool> {
        let (array, limit) = (self.as_raw(), nanoseconds(timeout));
        // SAFETY: the function accepts any handle.
        let status = run(|error| unsafe { sys::guf_array_synchronize(array, limit, error) })?;
        Ok(status == Status::OK)
    }

    /// Copies all elements into memory of the program, in order `C` or `F`. With a stream, the copy
    /// runs after the work of the stream; without a stream, it runs after all pending work on the
    /// array. The copy is complete on return, because the memory is borrowed only for the call.
    ///
    /// # Errors
    /// [`Status::DTYPE`] if the elements of the array are not of type `T`, [`Status::SHAPE`] if the
    /// lengths differ, [`Status::VALUE`] if the array contains invalid bools, [`Status::CAPTURE`]
    /// while the stream is being captured; or the failure of the stream's work. If the copied bytes
    /// are not valid bools, the destination is zeroed.
    pub fn copy_to_host<T: Element>(
        &self,
        destination: &mut [T],
        order: Order,
        stream: Option<&Stream>,
    ) -> Result<()> {
        self.expect::<T>(destination.len())?;
        // The query fails during a capture. Memory that is borrowed only for this call must not
        // become part of a graph.
        stream.map_or(Ok(true), Stream::query)?;
        // SAFETY: the memory is borrowed until the wait has ended.
        let copied = unsafe {
            let (to, nbytes) = (destination.as_mut_ptr().cast::<u8>(), size_of_val(destination));
            self.queue_copy_to_host(to, nbytes, order, stream)
        };
        let copied = copied.and_then(|()| stream.map_or(Ok(()), Stream::synchronize));
        if scrub(destination) {
            copied?;
            return Err(Error::new(Status::VALUE, "the array contains invalid bools"));
        }
        copied
    }

    /// Queues a copy into memory of the program. Without a stream, the copy is complete on return.
    ///
    /// # Safety
    /// `nbytes` bytes at `destination` are writable and not used otherwise until the work of the
    /// stream is complete.
    ///
    /// # Errors
    /// [`Status::BUFFER_TOO_SMALL`], [`Status::ARG`].
    pub unsafe fn queue_copy_to_host(
        &self,
        destination: *mut u8,
        nbytes: usize,
        order: Order,
        stream: Option<&Stream>,
    ) -> Result<()> {
        let (to, stream) = (destination.cast(), raw_stream(stream));
        // SAFETY: guaranteed by the caller.
        check(|error| unsafe {
            sys::guf_array_copy_to_host(
                self.as_raw(),
                to,
                nbytes as u64,
                order as i32,
                stream,
                error,
            )
        })
    }

    /// Returns all elements in C order. Waits for all pending work on the array.
    ///
    /// # Errors
    /// [`Status::DTYPE`] if the elements of the array are not of type `T`; [`Status::NO_MEMORY`] if
    /// the vector cannot be allocated, as may happen for a broadcast array.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let size = self.raw_info()?.size as usize;
        self.expect::<T>(size)?;
        let mut bytes: Vec<T> = Vec::new();
        if bytes.try_reserve_exact(size).is_err() {
            let message = format!("no memory for a vector of {size} elements");
            return Err(Error::new(Status::NO_MEMORY, message));
        }
        let nbytes = size * size_of::<T>();
        // SAFETY: the vector has capacity for the elements, and the copy is complete on return.
        unsafe {
            self.queue_copy_to_host(bytes.as_mut_ptr().cast(), nbytes, Order::C, None)?;
            let written = std::slice::from_raw_parts(bytes.as_ptr().cast::<u8>(), nbytes);
            if !T::valid(written) {
                return Err(Error::new(Status::VALUE, "the array contains invalid bools"));
            }
            bytes.set_len(size);
        }
        Ok(bytes)
    }

    pub(crate) fn expect<T: Element>(&self, length: usize) -> Result<()> {
        let info = self.raw_info()?;
        let dtype = DType(info.dtype);
        if !T::reads(dtype) {
            let message = format!("dtype of the array: expected {}, got {dtype}", T::dtype());
            return Err(Error::new(Status::DTYPE, message));
        }
        if length as u64 != info.size {
            let message = format!("elements: expected {}, got {length}", info.size);
            return Err(Error::new(Status::SHAPE, message));
        }
        Ok(())
    }
}

/// Zeroes the memory if it contains bytes that are not valid values of `T`, such as after a failed
/// copy. Returns whether the memory was zeroed.
fn scrub<T: Element>(memory: &mut [T]) -> bool {
    let bytes = memory.as_mut_ptr().cast::<u8>();
    let invalid = !T::valid(bytes_of(memory));
    if invalid {
        // SAFETY: the memory has this size, and zero is a valid value of every element type.
        unsafe { std::ptr::write_bytes(bytes, 0, size_of_val(memory)) };
    }
    invalid
}
