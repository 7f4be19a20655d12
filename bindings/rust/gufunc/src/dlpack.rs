// SPDX-License-Identifier: Apache-2.0
//! DLPack: arrays from and for other libraries of the process, without a copy.

use crate::array::made;
use crate::status::check;
use crate::{Array, DynArray, Element, Error, Order, Result, Status, Stream};
use gufunc_sys as sys;
use std::ptr::NonNull;

/// A tensor of DLPack's, and the one right to delete it: by dropping this, by making an array of it
/// ([`DynArray::from_dlpack`]), or by handing its pointer on ([`DlpackTensor::into_versioned`]).
///
/// ```
/// use gufunc::{Array, DlpackTensor, DynArray};
/// let x = Array::from_vec(vec![1.0, 2.0, 3.0], &[3])?;
/// let pointer = x.to_dlpack(None)?.into_versioned().unwrap();
/// // What another library does with it; types of other crates are cast.
/// // SAFETY: a fresh tensor, which nobody else has.
/// let tensor = unsafe { DlpackTensor::from_versioned(pointer)? };
/// let y = DynArray::from_dlpack(tensor, None)?;
/// assert_eq!(y.info()?.address, x.info()?.address);
/// # Ok::<(), gufunc::Error>(())
/// ```
#[derive(Debug)]
pub struct DlpackTensor(Managed);

#[derive(Clone, Copy, Debug)]
enum Managed {
    Versioned(NonNull<sys::guf_dlpack>),
    Unversioned(NonNull<sys::guf_dlpack_unversioned>),
}

// SAFETY: whoever makes one promises that its deleter may run on any thread.
unsafe impl Send for DlpackTensor {}
// SAFETY: nothing is changed through a reference.
unsafe impl Sync for DlpackTensor {}

/// Whose work an exchange of arrays comes behind, or is waited for by: a stream of this library's,
/// or one of those that have no handle. For host memory it is [`DlpackStream::Unordered`].
#[derive(Clone, Copy, Debug, Default)]
pub enum DlpackStream<'a> {
    /// Nobody waits: the values are there, or in the order of work without a stream.
    #[default]
    Unordered,
    /// A stream of the array's device.
    Stream(&'a Stream),
    /// The vendor's default stream.
    Legacy,
    /// The vendor's default stream of this thread.
    PerThread,
}

impl<'a> From<&'a Stream> for DlpackStream<'a> {
    fn from(stream: &'a Stream) -> Self {
        DlpackStream::Stream(stream)
    }
}

impl<'a> From<Option<&'a Stream>> for DlpackStream<'a> {
    fn from(stream: Option<&'a Stream>) -> Self {
        stream.map_or(DlpackStream::Unordered, DlpackStream::Stream)
    }
}

impl DlpackStream<'_> {
    /// C's stream and flags.
    fn parts(self) -> (sys::guf_stream, u32) {
        match self {
            DlpackStream::Stream(stream) => (stream.as_raw(), 0),
            DlpackStream::Unordered => (std::ptr::null_mut(), 0),
            DlpackStream::Legacy => (std::ptr::null_mut(), sys::GUF_DLPACK_LEGACY_STREAM),
            DlpackStream::PerThread => (std::ptr::null_mut(), sys::GUF_DLPACK_PER_THREAD_STREAM),
        }
    }
}

impl DlpackTensor {
    /// Takes a `DLManagedTensorVersioned` over, of whatever version.
    ///
    /// # Safety
    /// A live tensor that the caller may give away, and does not use again. It describes memory
    /// that is there, and writable where it does not say read-only, until its deleter was called,
    /// which any thread may do.
    ///
    /// # Errors
    /// [`Status::ARG`] for NULL.
    pub unsafe fn from_versioned(tensor: *mut sys::guf_dlpack) -> Result<Self> {
        match NonNull::new(tensor) {
            Some(tensor) => Ok(DlpackTensor(Managed::Versioned(tensor))),
            None => Err(no_tensor()),
        }
    }

    /// Takes a `DLManagedTensor` over, what libraries exchange that know DLPack 0.x.
    ///
    /// # Safety
    /// As [`DlpackTensor::from_versioned`]; the memory is writable.
    ///
    /// # Errors
    /// [`Status::ARG`] for NULL.
    pub unsafe fn from_unversioned(tensor: *mut sys::guf_dlpack_unversioned) -> Result<Self> {
        match NonNull::new(tensor) {
            Some(tensor) => Ok(DlpackTensor(Managed::Unversioned(tensor))),
            None => Err(no_tensor()),
        }
    }

    /// The pointer, whose deleter the caller then has to call; the tensor again where it is an
    /// unversioned one.
    ///
    /// # Errors
    /// The tensor.
    pub fn into_versioned(self) -> std::result::Result<*mut sys::guf_dlpack, Self> {
        match self.0 {
            Managed::Versioned(tensor) => {
                std::mem::forget(self);
                Ok(tensor.as_ptr())
            }
            Managed::Unversioned(_) => Err(self),
        }
    }

    /// The same of an unversioned tensor.
    ///
    /// # Errors
    /// The tensor.
    pub fn into_unversioned(self) -> std::result::Result<*mut sys::guf_dlpack_unversioned, Self> {
        match self.0 {
            Managed::Unversioned(tensor) => {
                std::mem::forget(self);
                Ok(tensor.as_ptr())
            }
            Managed::Versioned(_) => Err(self),
        }
    }

    /// Major and minor version of DLPack; `None` of an unversioned tensor.
    pub fn version(&self) -> Option<(u32, u32)> {
        match self.0 {
            // SAFETY: a live tensor; these fields lie there in every version.
            Managed::Versioned(tensor) => unsafe {
                Some(((*tensor.as_ptr()).major, (*tensor.as_ptr()).minor))
            },
            Managed::Unversioned(_) => None,
        }
    }

    /// Whether the memory may only be read. An unversioned tensor cannot tell.
    pub fn is_read_only(&self) -> bool {
        self.has(sys::GUF_DLPACK_READ_ONLY)
    }

    /// Whether the memory was made for the consumer, so that nobody else sees it.
    pub fn is_copied(&self) -> bool {
        self.has(sys::GUF_DLPACK_IS_COPIED)
    }

    fn has(&self, flag: u32) -> bool {
        match (self.0, self.version()) {
            // SAFETY: a live tensor, whose version has flags.
            (Managed::Versioned(tensor), Some((1, _))) => unsafe {
                (*tensor.as_ptr()).flags & u64::from(flag) != 0
            },
            _ => false,
        }
    }
}

#[cold]
fn no_tensor() -> Error {
    Error::new(Status::ARG, "a tensor is NULL")
}

impl Drop for DlpackTensor {
    /// Calls the deleter.
    fn drop(&mut self) {
        // SAFETY: a live tensor, whose deleter this value alone may call.
        unsafe {
            match self.0 {
                Managed::Versioned(tensor) => {
                    (*tensor.as_ptr()).deleter.map(|delete| delete(tensor.as_ptr()))
                }
                Managed::Unversioned(tensor) => {
                    (*tensor.as_ptr()).deleter.map(|delete| delete(tensor.as_ptr()))
                }
            }
        };
    }
}

impl DynArray {
    /// Makes an array of a tensor, without a copy. What the device is given without a stream later
    /// comes behind what is queued on `ready_on` so far; nothing is waited for here. The tensor's
    /// deleter runs when the last array or view is gone, in a failure before this returns.
    ///
    /// # Errors
    /// [`Status::ABI`] where the major version is not 1, [`Status::DTYPE`], [`Status::SHAPE`],
    /// [`Status::UNSUPPORTED`] for its place, [`Status::DEVICE_MISMATCH`] for the stream or for
    /// memory that is not the device's, [`Status::ARG`] for a stream with host memory and the rest
    /// of `guf_array_from_dlpack`'s.
    pub fn from_dlpack<'a>(
        tensor: DlpackTensor,
        ready_on: impl Into<DlpackStream<'a>>,
    ) -> Result<Self> {
        // Without a library the tensor stays this value's: nobody takes it below.
        #[cfg(feature = "load")]
        if let Some(reason) = sys::loader::reason() {
            return Err(Error::new(Status::IO, reason));
        }
        let (stream, flags) = ready_on.into().parts();
        let managed = std::mem::ManuallyDrop::new(tensor).0;
        // SAFETY: a live tensor, which the library takes in every case.
        made(|out, error| unsafe {
            match managed {
                Managed::Versioned(tensor) => {
                    sys::guf_array_from_dlpack(tensor.as_ptr(), stream, flags, out, error)
                }
                Managed::Unversioned(tensor) => {
                    let tensor = tensor.as_ptr();
                    sys::guf_array_from_dlpack_unversioned(tensor, stream, flags, out, error)
                }
            }
        })
    }

    /// Makes a tensor of the array's memory, of version 1.0. `consumer`, the stream that will read
    /// it, waits for what the device was given without a stream so far, and the memory lives until
    /// what it has queued when the tensor is deleted is done. The tensor keeps the stream; one that
    /// was adopted has to outlive the tensor.
    ///
    /// # Errors
    /// [`Status::DTYPE`] for a time, a record, or elements in the other byte
    /// order, [`Status::UNSUPPORTED`] for strides that are no multiple
    /// of the item size, [`Status::DEVICE_MISMATCH`] for the
    /// stream, [`Status::ARG`] for a stream with host memory.
    pub fn to_dlpack<'a>(&self, consumer: impl Into<DlpackStream<'a>>) -> Result<DlpackTensor> {
        self.export(consumer.into(), 0)
    }

    /// The same of a copy that nobody else sees, which the tensor tells.
    ///
    /// # Errors
    /// As [`DynArray::copy`] and [`DynArray::to_dlpack`].
    pub fn copy_to_dlpack<'a>(
        &self,
        consumer: impl Into<DlpackStream<'a>>,
    ) -> Result<DlpackTensor> {
        self.copy(Order::Keep, None)?.export(consumer.into(), sys::GUF_DLPACK_COPIED)
    }

    fn export(&self, consumer: DlpackStream<'_>, more: u32) -> Result<DlpackTensor> {
        let ((stream, flags), mut raw) = (consumer.parts(), std::ptr::null_mut());
        // SAFETY: the function accepts any handle, and the result pointer is valid.
        check(|error| unsafe {
            sys::guf_array_to_dlpack(self.as_raw(), stream, flags | more, &mut raw, error)
        })?;
        // SAFETY: a fresh tensor, the caller's.
        unsafe { DlpackTensor::from_versioned(raw) }
    }

    /// Makes an unversioned tensor, for libraries that know DLPack 0.x.
    ///
    /// # Errors
    /// As [`DynArray::to_dlpack`]; [`Status::READ_ONLY`] for a read-only
    /// array, since the tensor could not tell.
    pub fn to_dlpack_unversioned<'a>(
        &self,
        consumer: impl Into<DlpackStream<'a>>,
    ) -> Result<DlpackTensor> {
        let ((stream, flags), mut raw) = (consumer.into().parts(), std::ptr::null_mut());
        // SAFETY: the function accepts any handle, and the result pointer is valid.
        check(|error| unsafe {
            sys::guf_array_to_dlpack_unversioned(self.as_raw(), stream, flags, &mut raw, error)
        })?;
        // SAFETY: a fresh tensor, the caller's.
        unsafe { DlpackTensor::from_unversioned(raw) }
    }
}

impl<T: Element> Array<T> {
    /// An array of `T` of a tensor; see [`DynArray::from_dlpack`].
    ///
    /// # Errors
    /// As there; [`Status::DTYPE`] where it has other elements.
    pub fn from_dlpack<'a>(
        tensor: DlpackTensor,
        ready_on: impl Into<DlpackStream<'a>>,
    ) -> Result<Self> {
        DynArray::from_dlpack(tensor, ready_on)?.typed()
    }
}
