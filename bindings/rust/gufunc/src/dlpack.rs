// SPDX-License-Identifier: Apache-2.0
//! DLPack: exchanges arrays with other libraries in the process, without a copy.

use crate::array::made;
use crate::status::check;
use crate::{Array, DynArray, Element, Error, Order, Result, Status, Stream};
use gufunc_sys as sys;
use std::ptr::NonNull;

/// A DLPack tensor with the exclusive right to delete it. Dropping this value deletes the tensor.
/// [`DynArray::from_dlpack`] transfers this right to the new array, and
/// [`DlpackTensor::into_versioned`] transfers it to the caller.
///
/// ```
/// use gufunc::{Array, DlpackTensor, DynArray};
/// let x = Array::from_vec(vec![1.0, 2.0, 3.0], &[3])?;
/// let pointer = x.to_dlpack(None)?.into_versioned().unwrap();
/// // Another library would do this; pointers to types of other crates are cast.
/// // SAFETY: the tensor is new, and nothing else uses it.
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

// SAFETY: the constructors require that the deleter may run on any thread.
unsafe impl Send for DlpackTensor {}
// SAFETY: no method changes anything through a shared reference.
unsafe impl Sync for DlpackTensor {}

/// The stream on which the other library produces or reads the values of an exchanged array: a
/// stream of this library, or a default stream of the vendor, which has no handle. For host memory
/// it must be [`DlpackStream::Unordered`].
#[derive(Clone, Copy, Debug, Default)]
pub enum DlpackStream<'a> {
    /// No synchronization: the values are complete, or are produced on the device's default stream.
    #[default]
    Unordered,
    /// A stream of the array's device.
    Stream(&'a Stream),
    /// The vendor's default stream, which all threads share.
    Legacy,
    /// The vendor's default stream of the calling thread.
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
    /// Returns the stream and the flags for the C functions.
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
    /// Takes ownership of a `DLManagedTensorVersioned` of any version.
    ///
    /// # Safety
    /// The tensor is live, and the caller owns the tensor and does not use it again. Until the
    /// deleter is called, the tensor describes valid memory, which is writable unless the tensor is
    /// read-only. Any thread may call the deleter.
    ///
    /// # Errors
    /// [`Status::ARG`] for NULL.
    pub unsafe fn from_versioned(tensor: *mut sys::guf_dlpack) -> Result<Self> {
        match NonNull::new(tensor) {
            Some(tensor) => Ok(DlpackTensor(Managed::Versioned(tensor))),
            None => Err(no_tensor()),
        }
    }

    /// Takes ownership of a `DLManagedTensor`, the structure of libraries that support DLPack 0.x.
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

    /// Returns the pointer to the tensor. The caller becomes responsible for calling the tensor's
    /// deleter.
    ///
    /// # Errors
    /// Returns the tensor unchanged if it is unversioned.
    pub fn into_versioned(self) -> std::result::Result<*mut sys::guf_dlpack, Self> {
        match self.0 {
            Managed::Versioned(tensor) => {
                std::mem::forget(self);
                Ok(tensor.as_ptr())
            }
            Managed::Unversioned(_) => Err(self),
        }
    }

    /// Like [`DlpackTensor::into_versioned`], for an unversioned tensor.
    ///
    /// # Errors
    /// Returns the tensor unchanged if it is versioned.
    pub fn into_unversioned(self) -> std::result::Result<*mut sys::guf_dlpack_unversioned, Self> {
        match self.0 {
            Managed::Unversioned(tensor) => {
                std::mem::forget(self);
                Ok(tensor.as_ptr())
            }
            Managed::Versioned(_) => Err(self),
        }
    }

    /// Returns the major and minor version of DLPack, or `None` for an unversioned tensor.
    pub fn version(&self) -> Option<(u32, u32)> {
        match self.0 {
            // SAFETY: the tensor is live, and these fields have the same position in every version.
            Managed::Versioned(tensor) => unsafe {
                Some(((*tensor.as_ptr()).major, (*tensor.as_ptr()).minor))
            },
            Managed::Unversioned(_) => None,
        }
    }

    /// Whether the memory is read-only. An unversioned tensor has no such flag and counts as
    /// writable.
    pub fn is_read_only(&self) -> bool {
        self.has(sys::GUF_DLPACK_READ_ONLY)
    }

    /// Whether the memory is a copy for the exclusive use of the consumer.
    pub fn is_copied(&self) -> bool {
        self.has(sys::GUF_DLPACK_IS_COPIED)
    }

    fn has(&self, flag: u32) -> bool {
        match (self.0, self.version()) {
            // SAFETY: the tensor is live, and its version has flags.
            (Managed::Versioned(tensor), Some((1, _))) => unsafe {
                (*tensor.as_ptr()).flags & u64::from(flag) != 0
            },
            _ => false,
        }
    }
}

#[cold]
fn no_tensor() -> Error {
    Error::new(Status::ARG, "the tensor is NULL")
}

impl Drop for DlpackTensor {
    /// Calls the deleter.
    fn drop(&mut self) {
        // SAFETY: the tensor is live, and only this value may call its deleter.
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
    /// Makes an array from a tensor, without a copy. Work that is queued later on the device's
    /// default stream runs after the work that is already queued on `ready_on`. This function does
    /// not wait. The tensor's deleter runs when the last array or view is gone, or before this
    /// function returns if the function fails.
    ///
    /// # Errors
    /// [`Status::ABI`] if the major version is not 1, [`Status::DTYPE`], [`Status::SHAPE`],
    /// [`Status::UNSUPPORTED`] for the kind of device, [`Status::DEVICE_MISMATCH`] if the stream or
    /// the memory does not belong to the device, [`Status::ARG`] for a stream with host memory, and
    /// the other errors of `guf_array_from_dlpack`.
    pub fn from_dlpack<'a>(
        tensor: DlpackTensor,
        ready_on: impl Into<DlpackStream<'a>>,
    ) -> Result<Self> {
        // If no library was found, `tensor` must keep the ownership, because no function of the
        // library takes it.
        #[cfg(feature = "load")]
        if let Some(reason) = sys::loader::reason() {
            return Err(Error::new(Status::IO, reason));
        }
        let (stream, flags) = ready_on.into().parts();
        let managed = std::mem::ManuallyDrop::new(tensor).0;
        // SAFETY: the tensor is live, and the library takes ownership of it in every case.
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

    /// Makes a tensor of DLPack version 1.0 from the array's memory. `consumer` is the stream that
    /// will read the tensor. It waits for the work that is already queued on the device's default
    /// stream. The memory lives until the tensor is deleted and the work that is queued on
    /// `consumer` at that time is complete. The tensor keeps the stream alive; the native handle of
    /// an adopted stream must outlive the tensor.
    ///
    /// # Errors
    /// [`Status::DTYPE`] for a datetime type, a structured dtype, or elements in a different byte
    /// order than the machine's, [`Status::UNSUPPORTED`] if a stride is not a multiple of the item
    /// size, [`Status::DEVICE_MISMATCH`] for the stream, [`Status::ARG`] for a stream with host
    /// memory.
    pub fn to_dlpack<'a>(&self, consumer: impl Into<DlpackStream<'a>>) -> Result<DlpackTensor> {
        self.export(consumer.into(), 0)
    }

    /// Makes a tensor from a copy of the array for the exclusive use of the consumer, and sets the
    /// tensor's flag [`DlpackTensor::is_copied`].
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
        // SAFETY: the tensor is new, and the caller owns it.
        unsafe { DlpackTensor::from_versioned(raw) }
    }

    /// Makes an unversioned tensor, for libraries that support DLPack 0.x.
    ///
    /// # Errors
    /// As [`DynArray::to_dlpack`]; [`Status::READ_ONLY`] for a read-only array, because the
    /// structure has no flag for read-only memory.
    pub fn to_dlpack_unversioned<'a>(
        &self,
        consumer: impl Into<DlpackStream<'a>>,
    ) -> Result<DlpackTensor> {
        let ((stream, flags), mut raw) = (consumer.into().parts(), std::ptr::null_mut());
        // SAFETY: the function accepts any handle, and the result pointer is valid.
        check(|error| unsafe {
            sys::guf_array_to_dlpack_unversioned(self.as_raw(), stream, flags, &mut raw, error)
        })?;
        // SAFETY: the tensor is new, and the caller owns it.
        unsafe { DlpackTensor::from_unversioned(raw) }
    }
}

impl<T: Element> Array<T> {
    /// Makes an array of `T` from a tensor; see [`DynArray::from_dlpack`].
    ///
    /// # Errors
    /// As [`DynArray::from_dlpack`]; [`Status::DTYPE`] if the elements have a different dtype.
    pub fn from_dlpack<'a>(
        tensor: DlpackTensor,
        ready_on: impl Into<DlpackStream<'a>>,
    ) -> Result<Self> {
        DynArray::from_dlpack(tensor, ready_on)?.typed()
    }
}
