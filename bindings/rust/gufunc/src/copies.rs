// SPDX-License-Identifier: Apache-2.0
//! Copies between arrays, devices and memory of the program.

use crate::array::{made, raw_stream};
use crate::context::nanoseconds;
use crate::dtype::bytes_of;
use crate::status::{check, run};
use crate::{
    Casting, DType, Device, DynArray, Element, Error, Operand, Order, Result, Status, Stream,
};
use gufunc_sys as sys;
use std::time::Duration;

impl DynArray {
    /// Sets every element to a scalar ([`scalar`](crate::scalar), [`weak`](crate::weak)), queued on
    /// a stream if one is given.
    ///
    /// # Errors
    /// [`Status::READ_ONLY`]; [`Status::OVERFLOW`] for a weak integer that does not fit into the
    /// dtype; [`Status::ARG`] if the value is not a scalar.
    pub fn fill(&self, value: Operand<'_>, stream: Option<&Stream>) -> Result<()> {
        let mut frame = crate::frame::Frame::new();
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

    /// Returns a copy of another dtype.
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
    /// [`Status::DTYPE`] if the array has another dtype than `T`, [`Status::SHAPE`] if the lengths
    /// differ, [`Status::VALUE`] if the array contains invalid bools, [`Status::CAPTURE`] while the
    /// stream is being captured; or the failure of the stream's work. If the copied bytes are not
    /// valid bools, the destination is zeroed.
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
    /// [`Status::DTYPE`] if the array has another dtype than `T`; [`Status::NO_MEMORY`] if the
    /// vector cannot be allocated, as may happen for a broadcast array.
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
