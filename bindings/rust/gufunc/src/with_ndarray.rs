// SPDX-License-Identifier: Apache-2.0
//! ndarray's arrays as operands, of any strides and without copies; and results as such.

use crate::{DynArray, Element, Error, Operand, Output, Result, Status, Tensor};
use gufunc_sys as sys;
use ndarray::{ArrayBase, ArrayD, Data, DataMut, Dimension, IxDyn};

fn extents(shape: &[usize]) -> Box<[i64]> {
    shape.iter().map(|&n| n as i64).collect()
}

fn bytes<T>(strides: &[isize]) -> Box<[i64]> {
    strides.iter().map(|&n| n as i64 * size_of::<T>() as i64).collect()
}

impl<'a, T: Element, S: Data<Elem = T>, D: Dimension> From<&'a ArrayBase<S, D>> for Operand<'a> {
    fn from(array: &'a ArrayBase<S, D>) -> Self {
        let (shape, strides) = (extents(array.shape()), bytes::<T>(array.strides()));
        Tensor::of_parts(array.as_ptr(), shape, strides, sys::GUF_TENSOR_READ_ONLY).into()
    }
}

impl<'a, T, S, D> From<&'a mut ArrayBase<S, D>> for Output<'a>
where
    T: Element,
    S: DataMut<Elem = T>,
    D: Dimension,
{
    fn from(array: &'a mut ArrayBase<S, D>) -> Self {
        // First: an array that shares its memory becomes its own here, and lies otherwise then.
        let memory = array.as_mut_ptr();
        let (shape, strides) = (extents(array.shape()), bytes::<T>(array.strides()));
        Output(Tensor::of_parts(memory, shape, strides, 0).into())
    }
}

impl DynArray {
    /// A copy as an array of ndarray, in C order. Waits for the device.
    ///
    /// ```
    /// # use gufunc::ufunc;
    /// use ndarray::{array, Array2};
    /// let (x, mut y) = (array![[1.0, 4.0], [9.0, 16.0]], Array2::<f64>::zeros((2, 2)));
    /// ufunc("sqrt")?.call_into(&x.t(), &mut y)?; // strides as they are
    /// assert_eq!(y, array![[1.0, 3.0], [2.0, 4.0]]);
    /// let sums = ufunc("add")?.reduce(&y).call()?.to_ndarray::<f64>()?;
    /// assert_eq!(sums, array![3.0, 7.0].into_dyn());
    /// # Ok::<(), gufunc::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`DynArray::to_vec`].
    pub fn to_ndarray<T: Element>(&self) -> Result<ArrayD<T>> {
        let shape: Vec<usize> = self.shape()?.iter().map(|&n| n as usize).collect();
        ArrayD::from_shape_vec(IxDyn(&shape), self.to_vec()?)
            .map_err(|error| Error::new(Status::SHAPE, error.to_string()))
    }
}

impl<T: Element> crate::Array<T> {
    /// Copies an array of ndarray into a new one of the host, in C order.
    ///
    /// # Errors
    /// As [`Array::from_vec`](crate::Array::from_vec).
    pub fn from_ndarray<S: Data<Elem = T>, D: Dimension>(array: &ArrayBase<S, D>) -> Result<Self> {
        Self::from_vec(array.iter().copied().collect(), &extents(array.shape()))
    }
}
