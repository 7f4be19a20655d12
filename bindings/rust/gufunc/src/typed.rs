// SPDX-License-Identifier: Apache-2.0
//! Arrays whose element type is Rust's.

use crate::{
    scalar, Casting, Device, DynArray, Element, Error, HostMemory, Order, Result, Slice, Status,
    Stream, Tensor,
};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// An array of `T`. It is a [`DynArray`] whose dtype is known, and has all of its methods.
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

    /// Allocates without setting the values; see [`DynArray::alloc`].
    ///
    /// # Errors
    /// As there.
    pub fn alloc(device: impl Into<Option<Device>>, shape: &[i64], order: Order) -> Result<Self> {
        DynArray::alloc(device, T::dtype(), shape, order).map(Self::known)
    }

    /// Allocates host memory for use with `device`; see [`DynArray::alloc_host`].
    ///
    /// # Errors
    /// As there.
    pub fn alloc_host(
        device: Device,
        memory: HostMemory,
        shape: &[i64],
        order: Order,
    ) -> Result<Self> {
        DynArray::alloc_host(device, memory, T::dtype(), shape, order).map(Self::known)
    }

    /// Every element is `value`. Complete on return: a stream may use it at once.
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

    /// Takes a vector over as an array of the host, without a copy, its elements in C order.
    ///
    /// # Errors
    /// [`Status::SHAPE`] where the vector has another number of elements.
    pub fn from_vec(elements: Vec<T>, shape: &[i64]) -> Result<Self> {
        let mut elements = std::mem::ManuallyDrop::new(elements);
        let owner = VecOwner(elements.as_mut_ptr(), elements.len(), elements.capacity());
        let wanted = shape.iter().try_fold(1i64, |size, &n| size.checked_mul(n));
        if wanted != i64::try_from(owner.1).ok() || shape.iter().any(|&n| n < 0) {
            let message = format!("{} elements do not have the shape {shape:?}", owner.1);
            return Err(Error::new(Status::SHAPE, message));
        }
        // SAFETY: memory that the array owns from now on, until the release drops it.
        unsafe {
            let tensor = Tensor::from_raw(owner.0.cast(), T::dtype(), shape, None);
            DynArray::wrap(tensor, move || drop(owner)).map(Self::known)
        }
    }

    /// Copies a slice into a new array of `device` (`None`: cpu), its elements in C order.
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

    /// All elements, in C order. Waits for the device.
    ///
    /// # Errors
    /// As [`DynArray::to_vec`].
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.array.to_vec()
    }

    /// The array without its Rust type.
    pub fn into_dyn(self) -> DynArray {
        self.array
    }

    /// See [`DynArray::copy`].
    ///
    /// # Errors
    /// As there.
    pub fn copy(&self, order: Order, stream: Option<&Stream>) -> Result<Self> {
        self.array.copy(order, stream).map(Self::known)
    }

    /// A copy of another type of Rust; see [`DynArray::astype`].
    ///
    /// # Errors
    /// As there.
    pub fn cast<U: Element>(&self, casting: Casting) -> Result<Array<U>> {
        self.array.astype(U::dtype(), casting, Order::Keep, None).map(Array::known)
    }

    /// See [`DynArray::to_device`].
    ///
    /// # Errors
    /// As there.
    pub fn to_device(&self, device: Device, stream: Option<&Stream>) -> Result<Self> {
        self.array.to_device(device, stream).map(Self::known)
    }

    /// See [`DynArray::slice`].
    ///
    /// # Errors
    /// As there.
    pub fn slice(&self, slices: &[Slice]) -> Result<Self> {
        self.array.slice(slices).map(Self::known)
    }

    /// See [`DynArray::reshape`].
    ///
    /// # Errors
    /// As there.
    pub fn reshape(&self, shape: &[i64], order: Order) -> Result<Self> {
        self.array.reshape(shape, order).map(Self::known)
    }

    /// See [`DynArray::ravel`].
    ///
    /// # Errors
    /// As there.
    pub fn ravel(&self, order: Order) -> Result<Self> {
        self.array.ravel(order).map(Self::known)
    }

    /// See [`DynArray::transpose`].
    ///
    /// # Errors
    /// As there.
    pub fn transpose(&self, axes: Option<&[i64]>) -> Result<Self> {
        self.array.transpose(axes).map(Self::known)
    }

    /// See [`DynArray::broadcast_to`].
    ///
    /// # Errors
    /// As there.
    pub fn broadcast_to(&self, shape: &[i64]) -> Result<Self> {
        self.array.broadcast_to(shape).map(Self::known)
    }

    /// See [`DynArray::squeeze`].
    ///
    /// # Errors
    /// As there.
    pub fn squeeze(&self, axes: Option<&[i64]>) -> Result<Self> {
        self.array.squeeze(axes).map(Self::known)
    }

    /// See [`DynArray::expand_dims`].
    ///
    /// # Errors
    /// As there.
    pub fn expand_dims(&self, axes: &[i64]) -> Result<Self> {
        self.array.expand_dims(axes).map(Self::known)
    }

    /// See [`DynArray::sliding_window_view`].
    ///
    /// # Errors
    /// As there.
    pub fn sliding_window_view(&self, windows: &[i64], axes: &[i64]) -> Result<Self> {
        self.array.sliding_window_view(windows, axes).map(Self::known)
    }
}

impl DynArray {
    /// The same array as one of `T`.
    ///
    /// # Errors
    /// [`Status::DTYPE`] where it has another dtype.
    pub fn typed<T: Element>(self) -> Result<Array<T>> {
        let dtype = self.dtype()?;
        if T::reads(dtype) {
            return Ok(Array::known(self));
        }
        let message = format!("the array has dtype {dtype}, not {}", T::dtype());
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
    /// Another reference to the same array.
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

/// A vector's parts, which drop it on whatever thread the library is done with them.
struct VecOwner<T: Element>(*mut T, usize, usize);

// SAFETY: elements are `Send`, and the vector is nobody else's.
unsafe impl<T: Element> Send for VecOwner<T> {}

impl<T: Element> Drop for VecOwner<T> {
    fn drop(&mut self) {
        // SAFETY: the parts of one vector, put together once.
        drop(unsafe { Vec::from_raw_parts(self.0, self.1, self.2) });
    }
}
