// SPDX-License-Identifier: Apache-2.0
//! Memory of the program that calls borrow.

use crate::{DType, Device, Element, Error, Result, Status};
use gufunc_sys as sys;
use std::marker::PhantomData;

/// A shape or strides: no list, the single extent of a slice, a borrowed list, or an owned list.
enum Extents<'a> {
    None,
    One(i64),
    Borrowed(&'a [i64]),
    Owned(Box<[i64]>),
}

impl Extents<'_> {
    #[inline(always)]
    fn as_slice(&self) -> &[i64] {
        match self {
            Extents::None => &[],
            Extents::One(extent) => std::slice::from_ref(extent),
            Extents::Borrowed(extents) => extents,
            Extents::Owned(extents) => extents,
        }
    }
}

/// Memory of the program with a shape, which a call borrows without a copy.
///
/// [`Tensor::from_raw`] makes a tensor from an address. For slices, [`view`](crate::view) and
/// [`view_mut`](crate::view_mut) need no `unsafe`.
pub struct Tensor<'a> {
    pub(crate) address: u64,
    pub(crate) dtype: DType,
    pub(crate) flags: u32,
    /// Whether the borrow ends with the call, so that the call must wait for queued work.
    pub(crate) borrowed: bool,
    shape: Extents<'a>,
    /// In bytes; `None`: C-contiguous.
    strides: Extents<'a>,
    device: sys::guf_device,
    _memory: PhantomData<&'a mut [u8]>,
}

impl<'a> Tensor<'a> {
    /// Describes memory at an address. `strides` are in bytes and may be negative; `None` means
    /// C-contiguous.
    ///
    /// # Safety
    /// All elements are in readable memory, which is also writable if the tensor is used as an
    /// output. The memory stays valid until the work that uses it is complete, even if the work is
    /// queued on a stream. No Rust reference refers to memory that the work writes.
    pub unsafe fn from_raw(
        address: *mut u8,
        dtype: DType,
        shape: &'a [i64],
        strides: Option<&'a [i64]>,
    ) -> Self {
        Tensor {
            address: address as u64,
            dtype,
            flags: 0,
            borrowed: false,
            shape: Extents::Borrowed(shape),
            strides: strides.map_or(Extents::None, Extents::Borrowed),
            device: std::ptr::null_mut(),
            _memory: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn of_slice<T: Element>(elements: &[T], flags: u32) -> Self {
        Tensor {
            address: elements.as_ptr() as u64,
            dtype: T::dtype(),
            flags,
            borrowed: true,
            shape: Extents::One(elements.len() as i64),
            strides: Extents::None,
            device: std::ptr::null_mut(),
            _memory: PhantomData,
        }
    }

    /// Describes borrowed memory with an owned shape and strides.
    #[cfg(any(feature = "ndarray", feature = "ndarray_0_16"))]
    pub(crate) fn of_parts<T: Element>(
        address: *const T,
        shape: Box<[i64]>,
        strides: Box<[i64]>,
        flags: u32,
    ) -> Self {
        Tensor {
            address: address as u64,
            dtype: T::dtype(),
            flags,
            borrowed: true,
            shape: Extents::Owned(shape),
            strides: Extents::Owned(strides),
            device: std::ptr::null_mut(),
            _memory: PhantomData,
        }
    }

    pub(crate) fn with_shape<T>(mut self, elements: &[T], shape: &[i64]) -> Result<Self> {
        let expected = shape.iter().try_fold(1i64, |size, &n| size.checked_mul(n));
        if expected != i64::try_from(elements.len()).ok() || shape.iter().any(|&n| n < 0) {
            let count = elements.len();
            let message = format!("{count} elements do not have the shape {shape:?}");
            return Err(Error::new(Status::SHAPE, message));
        }
        self.shape = Extents::Owned(shape.into());
        Ok(self)
    }

    /// Marks the elements as having a byte order other than the machine's.
    pub fn swapped(mut self) -> Self {
        self.flags |= sys::GUF_TENSOR_SWAPPED;
        self
    }

    /// Marks the memory as read-only. Calls reject it as an output.
    pub fn read_only(mut self) -> Self {
        self.flags |= sys::GUF_TENSOR_READ_ONLY;
        self
    }

    /// Reinterprets the elements as a different dtype of the same size, such as `i64` as a datetime
    /// type.
    ///
    /// # Errors
    /// [`Status::DTYPE`] if the sizes differ.
    pub fn with_dtype(mut self, dtype: DType) -> Result<Self> {
        if dtype.itemsize()? != self.dtype.itemsize()? {
            let message = format!("{} and {dtype} differ in size", self.dtype);
            return Err(Error::new(Status::DTYPE, message));
        }
        self.dtype = dtype;
        Ok(self)
    }

    /// Sets the device of the memory. Host memory has no device.
    ///
    /// # Safety
    /// The memory belongs to the device.
    pub unsafe fn on(mut self, device: Device) -> Self {
        self.device = device.as_raw();
        self
    }

    #[inline(always)]
    pub(crate) fn to_c(&self) -> sys::guf_tensor {
        let (shape, strides) = (self.shape.as_slice(), self.strides.as_slice());
        let has_strides = !matches!(self.strides, Extents::None);
        sys::guf_tensor {
            struct_size: size_of::<sys::guf_tensor>() as u32,
            dtype: self.dtype.0,
            ndim: shape.len() as i32,
            flags: self.flags,
            address: self.address,
            shape: shape.as_ptr(),
            strides: if has_strides { strides.as_ptr() } else { std::ptr::null() },
            device: self.device,
        }
    }
}
