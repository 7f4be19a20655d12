// SPDX-License-Identifier: Apache-2.0
//! Views of the memory of an array, without a copy.

use crate::array::{count, made, pointer, same_length};
use crate::{DynArray, Result, Status};
use gufunc_sys as sys;

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

    /// Returns the same bounds with another step.
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

    /// Returns the elements with another shape, in `order` (C, F or Any). One extent may be -1. The
    /// result is a view of the array if the strides allow a view, otherwise a view of a copy, as in
    /// NumPy.
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
