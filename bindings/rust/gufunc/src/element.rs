// SPDX-License-Identifier: Apache-2.0
//! Rust types as elements of arrays.

use crate::DType;

/// A type whose values are elements of arrays.
///
/// # Safety
/// A value has exactly the representation of an element of `dtype()`, so both have the same size.
/// The type has no padding, because all of its bytes are read. Every bit pattern that
/// [`Element::valid`] accepts is a valid value. A struct of the program may implement this trait:
///
/// ```
/// use gufunc::{DType, Element};
/// use std::sync::OnceLock;
///
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Particle { mass: f64, charge: i64 }
///
/// // SAFETY: two numbers of eight bytes, any bits.
/// unsafe impl Element for Particle {
///     fn dtype() -> DType {
///         static DTYPE: OnceLock<DType> = OnceLock::new();
///         *DTYPE.get_or_init(|| DType::register("particle", 16, 8).unwrap_or(DType::UNSPECIFIED))
///     }
/// }
/// assert_eq!(Particle::dtype().info()?.itemsize, 16);
/// # Ok::<(), gufunc::Error>(())
/// ```
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// Returns the dtype of the elements.
    fn dtype() -> DType;

    /// Whether elements of `dtype` can be read as values of this type. `i64` also reads elements of
    /// datetime types.
    fn reads(dtype: DType) -> bool {
        dtype == Self::dtype()
    }

    /// Whether all elements in these bytes are valid values. Only `bool` has invalid bit patterns.
    fn valid(_bytes: &[u8]) -> bool {
        true
    }

    /// Reads an element at an address of any alignment.
    ///
    /// # Safety
    /// There is an element of `dtype()` at the address.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn load(at: *const u8) -> Self {
        // SAFETY: guaranteed by the caller.
        unsafe { at.cast::<Self>().read_unaligned() }
    }
}

macro_rules! numbers {
    ($($type:ty => $dtype:ident,)*) => {$(
        // SAFETY: the C type has the same representation.
        unsafe impl Element for $type {
            #[inline(always)]
            fn dtype() -> DType {
                DType::$dtype
            }
        }
    )*};
}

numbers! {
    i8 => I8, i16 => I16, i32 => I32,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    f32 => F32, f64 => F64,
    F16 => F16, BF16 => BF16,
    [f32; 2] => C64, [f64; 2] => C128,
}

// SAFETY: the C type has the same representation, also for datetime types.
unsafe impl Element for i64 {
    #[inline(always)]
    fn dtype() -> DType {
        DType::I64
    }

    fn reads(dtype: DType) -> bool {
        dtype == DType::I64 || dtype.is_time()
    }
}

// SAFETY: one byte, and `valid` checks that it is 0 or 1.
unsafe impl Element for bool {
    #[inline(always)]
    fn dtype() -> DType {
        DType::BOOL
    }

    fn valid(bytes: &[u8]) -> bool {
        bytes.iter().all(|&byte| byte <= 1)
    }

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Self {
        // SAFETY: guaranteed by the caller. Uninitialized memory of the program may contain bytes
        // other than 0 and 1.
        unsafe { at.read() != 0 }
    }
}

/// The bits of a half-precision number. With the feature `half`, the type of that crate is an
/// element too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct F16(pub u16);

/// The bits of a bfloat16, which is the upper half of an `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct BF16(pub u16);

#[cfg(feature = "half")]
numbers! { half::f16 => F16, half::bf16 => BF16, }

#[cfg(feature = "num-complex")]
numbers! { num_complex::Complex<f32> => C64, num_complex::Complex<f64> => C128, }

/// Returns the bytes of elements.
pub(crate) fn bytes_of<T: Element>(elements: &[T]) -> &[u8] {
    // SAFETY: elements have no padding, as [`Element`] requires.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}
