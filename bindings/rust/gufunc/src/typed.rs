// SPDX-License-Identifier: Apache-2.0
//! Arrays whose element type is known at compile time.

use crate::{
    scalar, Casting, Device, DynArray, Element, Error, HostMemory, Order, Result, Slice, Status,
    Stream, Tensor,
};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// An array with elements of type `T`. It is a [`DynArray`] whose dtype is known, and has all
/// methods of [`DynArray`].
///
/// ```
/// use gufunc::Array;
/// let x = Array::from_vec(vec![1.0, 2.0, 3.0, 4.0], &[2, 2])?;
/// let y = (&x + &x)?;
/// assert_eq!(y.transpose(None)?.to_vec()?, [2.0, 6.0, 4.0, 8.0]);
/// println!("{y}");
/// # Ok::<(), gufunc::Error>(())
/// ```
#[repr(transparent)]
pub struct Array<T: Element> {
    array: DynArray,
    _elements: PhantomData<fn() -> T>,
}

impl<T: Element> Array<T> {
    fn known(array: DynArray) -> Self {
        Array { array, _elements: PhantomData }
    }

    /// Allocates an array without setting the values; see [`DynArray::alloc`].
    ///
    /// # Errors
    /// As [`DynArray::alloc`].
    pub fn alloc(device: impl Into<Option<Device>>, shape: &[i64], order: Order) -> Result<Self> {
        DynArray::alloc(device, T::dtype(), shape, order).map(Self::known)
    }

    /// Allocates host memory for use with `device`; see [`DynArray::alloc_host`].
    ///
    /// # Errors
    /// As [`DynArray::alloc_host`].
    pub fn alloc_host(
        device: Device,
        memory: HostMemory,
        shape: &[i64],
        order: Order,
    ) -> Result<Self> {
        DynArray::alloc_host(device, memory, T::dtype(), shape, order).map(Self::known)
    }

    /// Allocates an array and sets every element to `value`. The array is complete on return, so
    /// any stream may use it immediately.
    ///
    /// # Errors
    /// As [`DynArray::alloc`].
    pub fn full(device: impl Into<Option<Device>>, shape: &[i64], value: T) -> Result<Self> {
        let device = device.into();
        let array = Self::alloc(device, shape, Order::C)?;
        array.fill(scalar(value), None)?;
        if let Some(device) = device {
            device.synchronize(None)?;
        }
        Ok(array)
    }

    /// Makes a host array from a vector, without a copy, with the elements in C order.
    ///
    /// # Errors
    /// [`Status::SHAPE`] if the vector has a different number of elements.
    pub fn from_vec(elements: Vec<T>, shape: &[i64]) -> Result<Self> {
        let mut elements = std::mem::ManuallyDrop::new(elements);
        let owner = VecOwner(elements.as_mut_ptr(), elements.len(), elements.capacity());
        let expected = shape.iter().try_fold(1i64, |size, &n| size.checked_mul(n));
        if expected != i64::try_from(owner.1).ok() || shape.iter().any(|&n| n < 0) {
            let message = format!("{} elements do not have the shape {shape:?}", owner.1);
            return Err(Error::new(Status::SHAPE, message));
        }
        // SAFETY: the array owns the memory from now on, and the release callback drops the vector.
        unsafe {
            let tensor = Tensor::from_raw(owner.0.cast(), T::dtype(), shape, None);
            DynArray::wrap(tensor, move || drop(owner)).map(Self::known)
        }
    }

    /// Copies a slice into a new array on `device` (`None`: cpu), in C order.
    ///
    /// # Errors
    /// As [`Array::from_vec`] and [`DynArray::to_device`].
    pub fn from_slice(
        device: impl Into<Option<Device>>,
        elements: &[T],
        shape: &[i64],
    ) -> Result<Self> {
        let host = Self::from_vec(elements.to_vec(), shape)?;
        match device.into() {
            Some(device) => host.array.to_device(device, None).map(Self::known),
            None => Ok(host),
        }
    }

    /// Returns all elements in C order. Waits for all pending work on the array.
    ///
    /// # Errors
    /// As [`DynArray::to_vec`].
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.array.to_vec()
    }

    /// Converts to an array whose element type is known only at run time.
    pub fn into_dyn(self) -> DynArray {
        self.array
    }

    /// Returns a copy on the same device; see [`DynArray::copy`].
    ///
    /// # Errors
    /// As [`DynArray::copy`].
    pub fn copy(&self, order: Order, stream: Option<&Stream>) -> Result<Self> {
        self.array.copy(order, stream).map(Self::known)
    }

    /// Returns a copy with another element type; see [`DynArray::astype`].
    ///
    /// # Errors
    /// As [`DynArray::astype`].
    pub fn cast<U: Element>(&self, casting: Casting) -> Result<Array<U>> {
        self.array.astype(U::dtype(), casting, Order::Keep, None).map(Array::known)
    }

    /// Returns a copy on `device`; see [`DynArray::to_device`].
    ///
    /// # Errors
    /// As [`DynArray::to_device`].
    pub fn to_device(&self, device: Device, stream: Option<&Stream>) -> Result<Self> {
        self.array.to_device(device, stream).map(Self::known)
    }

    /// Returns a view of a part of the array; see [`DynArray::slice`].
    ///
    /// # Errors
    /// As [`DynArray::slice`].
    pub fn slice(&self, slices: &[Slice]) -> Result<Self> {
        self.array.slice(slices).map(Self::known)
    }

    /// Returns the elements with a different shape; see [`DynArray::reshape`].
    ///
    /// # Errors
    /// As [`DynArray::reshape`].
    pub fn reshape(&self, shape: &[i64], order: Order) -> Result<Self> {
        self.array.reshape(shape, order).map(Self::known)
    }

    /// Returns the elements in one dimension; see [`DynArray::ravel`].
    ///
    /// # Errors
    /// As [`DynArray::ravel`].
    pub fn ravel(&self, order: Order) -> Result<Self> {
        self.array.ravel(order).map(Self::known)
    }

    /// Returns a view with permuted axes; see [`DynArray::transpose`].
    ///
    /// # Errors
    /// As [`DynArray::transpose`].
    pub fn transpose(&self, axes: Option<&[i64]>) -> Result<Self> {
        self.array.transpose(axes).map(Self::known)
    }

    /// Returns a read-only view of the given shape; see [`DynArray::broadcast_to`].
    ///
    /// # Errors
    /// As [`DynArray::broadcast_to`].
    pub fn broadcast_to(&self, shape: &[i64]) -> Result<Self> {
        self.array.broadcast_to(shape).map(Self::known)
    }

    /// Returns a view without axes of extent 1; see [`DynArray::squeeze`].
    ///
    /// # Errors
    /// As [`DynArray::squeeze`].
    pub fn squeeze(&self, axes: Option<&[i64]>) -> Result<Self> {
        self.array.squeeze(axes).map(Self::known)
    }

    /// Returns a view with new axes of extent 1; see [`DynArray::expand_dims`].
    ///
    /// # Errors
    /// As [`DynArray::expand_dims`].
    pub fn expand_dims(&self, axes: &[i64]) -> Result<Self> {
        self.array.expand_dims(axes).map(Self::known)
    }

    /// Returns a read-only view of sliding windows; see [`DynArray::sliding_window_view`].
    ///
    /// # Errors
    /// As [`DynArray::sliding_window_view`].
    pub fn sliding_window_view(&self, windows: &[i64], axes: &[i64]) -> Result<Self> {
        self.array.sliding_window_view(windows, axes).map(Self::known)
    }
}

impl DynArray {
    /// Converts to an array of `T`.
    ///
    /// # Errors
    /// [`Status::DTYPE`] if the array has a different dtype.
    pub fn typed<T: Element>(self) -> Result<Array<T>> {
        let dtype = self.dtype()?;
        if T::reads(dtype) {
            return Ok(Array::known(self));
        }
        let message = format!("dtype of the array: expected {}, got {dtype}", T::dtype());
        Err(Error::new(Status::DTYPE, message))
    }
}

impl<T: Element> Deref for Array<T> {
    type Target = DynArray;

    fn deref(&self) -> &DynArray {
        &self.array
    }
}

impl<T: Element> From<Array<T>> for DynArray {
    fn from(array: Array<T>) -> Self {
        array.array
    }
}

impl<T: Element> TryFrom<DynArray> for Array<T> {
    type Error = Error;

    fn try_from(array: DynArray) -> Result<Self> {
        array.typed()
    }
}

impl<T: Element> Clone for Array<T> {
    /// Returns another reference to the same array.
    fn clone(&self) -> Self {
        Self::known(self.array.clone())
    }
}

impl<T: Element> fmt::Display for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.array.fmt(f)
    }
}

impl<T: Element> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.array, f)
    }
}

/// The parts of a vector: address, length and capacity. The vector is dropped on the thread that
/// releases the array.
struct VecOwner<T: Element>(*mut T, usize, usize);

// SAFETY: elements are `Send`, and nothing else refers to the vector.
unsafe impl<T: Element> Send for VecOwner<T> {}

impl<T: Element> Drop for VecOwner<T> {
    fn drop(&mut self) {
        // SAFETY: the parts belong to one vector, which is reassembled once.
        drop(unsafe { Vec::from_raw_parts(self.0, self.1, self.2) });
    }
}
