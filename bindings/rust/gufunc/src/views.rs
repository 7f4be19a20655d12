// SPDX-License-Identifier: Apache-2.0
//! Views: the same memory, seen otherwise, without a copy.

use crate::array::{count, made, pointer, same_length};
use crate::{DynArray, Result};
use gufunc_sys as sys;

/// How memory is laid out or read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Order {
    /// As the source lies.
    #[default]
    Keep = sys::GUF_ORDER_KEEP,
    /// The last axis fastest.
    C = sys::GUF_ORDER_C,
    /// The first axis fastest.
    F = sys::GUF_ORDER_F,
    /// `F` when the source is F- and not C-contiguous.
    Any = sys::GUF_ORDER_ANY,
}

/// One axis of a slice: `Slice::ALL`, a range, or a range with a step. Negative bounds count from
/// the end, as Python's do.
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
    /// The first index; `None`: from the beginning, of a negative step the end.
    pub start: Option<i64>,
    /// The index behind the last; `None`: to the end.
    pub stop: Option<i64>,
    /// Not 0.
    pub step: i64,
}

impl Slice {
    /// The whole axis.
    pub const ALL: Slice = Slice { start: None, stop: None, step: 1 };

    /// The same bounds with another step.
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

/// The index behind an index that counts in; behind -1, the last one, there is none.
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
    /// `a[start:stop:step, ...]`: one [`Slice`] per axis; later axes are kept whole.
    ///
    /// # Errors
    /// `INDEX` for more slices than axes, `VALUE` for a step of 0.
    pub fn slice(&self, slices: &[Slice]) -> Result<Self> {
        let bound = |bound: Option<i64>| bound.unwrap_or(i64::MIN);
        let starts: Vec<i64> = slices.iter().map(|s| bound(s.start)).collect();
        let stops: Vec<i64> = slices.iter().map(|s| bound(s.stop)).collect();
        let steps: Vec<i64> = slices.iter().map(|s| s.step).collect();
        let (starts, stops, steps) = (starts.as_ptr(), stops.as_ptr(), steps.as_ptr());
        // SAFETY: three lists of that length.
        made(|out, error| unsafe {
            sys::guf_array_slice(self.as_raw(), count(slices), starts, stops, steps, out, error)
        })
    }

    /// Another shape of the same elements in `order` (C, F or Any); one extent may be -1. Always a
    /// view: where NumPy would copy it is `UNSUPPORTED`, and [`DynArray::copy`] goes first.
    ///
    /// # Errors
    /// `SHAPE`, `ARG`, `UNSUPPORTED`.
    pub fn reshape(&self, shape: &[i64], order: crate::Order) -> Result<Self> {
        let (ndim, order) = (count(shape), order as i32);
        // SAFETY: a list of that length.
        made(|out, error| unsafe {
            sys::guf_array_reshape(self.as_raw(), ndim, shape.as_ptr(), order, out, error)
        })
    }

    /// The elements as one dimension, by `order`.
    ///
    /// # Errors
    /// As [`DynArray::reshape`].
    pub fn ravel(&self, order: crate::Order) -> Result<Self> {
        // SAFETY: takes any handle.
        made(|out, error| unsafe { sys::guf_array_ravel(self.as_raw(), order as i32, out, error) })
    }

    /// Permutes axes: axis i of the result is axis `axes[i]`. `None` reverses them.
    ///
    /// # Errors
    /// `VALUE` for another number of axes, `AXIS`.
    pub fn transpose(&self, axes: Option<&[i64]>) -> Result<Self> {
        let (naxes, axes) = (axes.map_or(0, count), pointer(axes));
        // SAFETY: a list of that length, or NULL.
        made(|out, error| unsafe {
            sys::guf_array_transpose(self.as_raw(), naxes, axes, out, error)
        })
    }

    /// Stretches axes of extent 1. The result is read-only.
    ///
    /// # Errors
    /// `SHAPE`.
    pub fn broadcast_to(&self, shape: &[i64]) -> Result<Self> {
        let ndim = count(shape);
        // SAFETY: a list of that length.
        made(|out, error| unsafe {
            sys::guf_array_broadcast_to(self.as_raw(), ndim, shape.as_ptr(), out, error)
        })
    }

    /// Drops axes of extent 1: those named, or all with `None`.
    ///
    /// # Errors
    /// `AXIS`; `SHAPE` where a named one is longer.
    pub fn squeeze(&self, axes: Option<&[i64]>) -> Result<Self> {
        let (naxes, axes) = (axes.map_or(0, count), pointer(axes));
        // SAFETY: a list of that length, or NULL.
        made(|out, error| unsafe { sys::guf_array_squeeze(self.as_raw(), naxes, axes, out, error) })
    }

    /// Inserts axes of extent 1 at these places of the result.
    ///
    /// # Errors
    /// `AXIS`, `SHAPE`.
    pub fn expand_dims(&self, axes: &[i64]) -> Result<Self> {
        // SAFETY: a list of that length.
        made(|out, error| unsafe {
            sys::guf_array_expand_dims(self.as_raw(), count(axes), axes.as_ptr(), out, error)
        })
    }

    /// NumPy's sliding_window_view over the named axes: each shrinks, and a last axis of its
    /// window's length appears. The result is read-only.
    ///
    /// # Errors
    /// `AXIS`; `SHAPE` for a window below 1 or above its axis; `ARG` where the lists' lengths
    /// differ.
    pub fn sliding_window_view(&self, windows: &[i64], axes: &[i64]) -> Result<Self> {
        same_length("windows", windows, axes)?;
        let (naxes, axes) = (count(axes), axes.as_ptr());
        // SAFETY: two lists of that length.
        made(|out, error| unsafe {
            let windows = windows.as_ptr();
            sys::guf_array_sliding_window(self.as_raw(), naxes, axes, windows, out, error)
        })
    }
}
