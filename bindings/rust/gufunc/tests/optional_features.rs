// SPDX-License-Identifier: Apache-2.0
//! Types of other crates that the features of this crate enable.
#![cfg(any(feature = "ndarray", feature = "ndarray_0_16"))]

use gufunc::{ufunc, Array, Result};

// The same tests with the arrays of each version of ndarray.
macro_rules! test_arrays {
    ($module:ident, $ndarray:ident, $to_ndarray:ident, $from_ndarray:ident) => {
        mod $module {
            use super::*;
            use $ndarray::{array, s, ArcArray1, Array1, CowArray};

            #[test]
            fn a_shared_array_is_written_in_place() -> Result<()> {
                let double =
                    |x: &mut ArcArray1<f64>| ufunc("add")?.call_into((&[1.0; 4], &[1.0; 4]), x);
                let all: ArcArray1<f64> = Array1::zeros(4000).into_shared();
                // When the array gets its own memory, its elements become contiguous, and its
                // strides change.
                let mut thin = all.clone().slice_move(s![..;1000]);
                double(&mut thin)?;
                assert_eq!(thin, array![2.0, 2.0, 2.0, 2.0]);
                assert!(all.iter().all(|&value| value == 0.0));

                let source = Array1::<f64>::zeros(8);
                let mut cow = CowArray::from(source.slice(s![..;-2]));
                ufunc("sqrt")?.call_into(&[1.0, 4.0, 9.0, 16.0], &mut cow)?;
                assert_eq!(cow, array![1.0, 2.0, 3.0, 4.0]);
                assert!(source.iter().all(|&value| value == 0.0));
                Ok(())
            }

            #[test]
            fn strides_of_any_sign() -> Result<()> {
                let row = Array1::from_iter((0..12).map(f64::from));
                let x = row.into_shape_with_order((3, 4)).unwrap();
                let reversed = x.slice(s![..;-1, 1..;2]);
                let sum = ufunc("add")?.call((&reversed, &array![[100.0], [200.0], [300.0]]))?;
                let expected = array![[109.0, 111.0], [205.0, 207.0], [301.0, 303.0]];
                assert_eq!(sum.$to_ndarray::<f64>()?, expected.into_dyn());
                let copied = Array::$from_ndarray(&reversed)?;
                assert_eq!(copied.to_vec()?, [9.0, 11.0, 5.0, 7.0, 1.0, 3.0]);
                Ok(())
            }
        }
    };
}

#[cfg(feature = "ndarray")]
test_arrays!(ndarray_0_17, ndarray, to_ndarray, from_ndarray);
#[cfg(feature = "ndarray_0_16")]
test_arrays!(ndarray_0_16_arrays, ndarray_0_16, to_ndarray_0_16, from_ndarray_0_16);
