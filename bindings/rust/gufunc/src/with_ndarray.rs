// SPDX-License-Identifier: Apache-2.0
//! Conversions between ndarray's arrays and operands, with any strides and without copies. For
//! Cargo, ndarray 0.16 and 0.17 are different crates. Each of them has a feature, and both features
//! may be enabled.

fn extents(shape: &[usize]) -> Box<[i64]> {
    shape.iter().map(|&n| n as i64).collect()
}

fn bytes<T>(strides: &[isize]) -> Box<[i64]> {
    strides.iter().map(|&n| n as i64 * size_of::<T>() as i64).collect()
}

// Conversions from and to the arrays of one version of ndarray.
macro_rules! convert_arrays {
    (
        $module:ident, $ndarray:ident, $to_ndarray:ident, $from_ndarray:ident,
        $version:literal, $use:literal, $sums:literal
    ) => {
        mod $module {
            use super::{bytes, extents};
            use crate::{DynArray, Element, Error, Operand, Output, Result, Status, Tensor};
            use gufunc_sys as sys;
            use $ndarray::{ArrayBase, ArrayD, Data, DataMut, Dimension, IxDyn};

            impl<'a, T, S, D> From<&'a ArrayBase<S, D>> for Operand<'a>
            where
                T: Element,
                S: Data<Elem = T>,
                D: Dimension,
            {
                fn from(array: &'a ArrayBase<S, D>) -> Self {
                    let (shape, strides) = (extents(array.shape()), bytes::<T>(array.strides()));
                    Tensor::of_parts(array.as_ptr(), shape, strides, sys::GUF_TENSOR_READ_ONLY)
                        .into()
                }
            }

            impl<'a, T, S, D> From<&'a mut ArrayBase<S, D>> for Output<'a>
            where
                T: Element,
                S: DataMut<Elem = T>,
                D: Dimension,
            {
                fn from(array: &'a mut ArrayBase<S, D>) -> Self {
                    // `as_mut_ptr` must come first: if the array shares its memory, `as_mut_ptr`
                    // copies the array, which changes the strides.
                    let memory = array.as_mut_ptr();
                    let (shape, strides) = (extents(array.shape()), bytes::<T>(array.strides()));
                    Output(Tensor::of_parts(memory, shape, strides, 0).into())
                }
            }

            impl DynArray {
                #[doc = concat!("A copy as an array of ndarray ", $version, ", in C order.")]
                /// Waits for the device.
                ///
                /// ```
                /// # use gufunc::ufunc;
                #[doc = $use]
                /// let x = array![[1.0, 4.0], [9.0, 16.0]];
                /// let mut y = Array2::<f64>::zeros((2, 2));
                /// ufunc("sqrt")?.call_into(&x.t(), &mut y)?; // any strides, no copy
                /// assert_eq!(y, array![[1.0, 3.0], [2.0, 4.0]]);
                #[doc = $sums]
                /// assert_eq!(sums, array![3.0, 7.0].into_dyn());
                /// # Ok::<(), gufunc::Error>(())
                /// ```
                ///
                /// # Errors
                /// As [`DynArray::to_vec`].
                pub fn $to_ndarray<T: Element>(&self) -> Result<ArrayD<T>> {
                    let shape: Vec<usize> = self.shape()?.iter().map(|&n| n as usize).collect();
                    ArrayD::from_shape_vec(IxDyn(&shape), self.to_vec()?)
                        .map_err(|error| Error::new(Status::SHAPE, error.to_string()))
                }
            }

            impl<T: Element> crate::Array<T> {
                #[doc = concat!("Copies an array of ndarray ", $version, " into a new one of the")]
                /// host, in C order.
                ///
                /// # Errors
                /// As [`Array::from_vec`](crate::Array::from_vec).
                pub fn $from_ndarray<S: Data<Elem = T>, D: Dimension>(
                    array: &ArrayBase<S, D>,
                ) -> Result<Self> {
                    Self::from_vec(array.iter().copied().collect(), &extents(array.shape()))
                }
            }
        }
    };
}

#[cfg(feature = "ndarray")]
convert_arrays!(
    of_0_17,
    ndarray,
    to_ndarray,
    from_ndarray,
    "0.17",
    "use ndarray::{array, Array2};",
    "let sums = ufunc(\"add\")?.reduce(&y).call()?.to_ndarray::<f64>()?;"
);
#[cfg(feature = "ndarray_0_16")]
convert_arrays!(
    of_0_16,
    ndarray_0_16,
    to_ndarray_0_16,
    from_ndarray_0_16,
    "0.16",
    "use ndarray_0_16::{array, Array2};",
    "let sums = ufunc(\"add\")?.reduce(&y).call()?.to_ndarray_0_16::<f64>()?;"
);
