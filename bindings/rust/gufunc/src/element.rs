// SPDX-License-Identifier: Apache-2.0
//! Rust's types as elements of arrays.

use crate::DType;

/// A type whose values are elements of arrays.
///
/// # Safety
/// A value is exactly an element of `dtype()`: of its size, without padding, since all bytes are
/// read, and valid for whatever bits [`Element::valid`] accepts. A record of the program's may be
/// one:
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
    /// The element type in arrays.
    fn dtype() -> DType;

    /// Whether arrays of `dtype` hold values of this type: `i64` also reads times.
    fn reads(dtype: DType) -> bool {
        dtype == Self::dtype()
    }

    /// Whether every element of these bytes is a value. Only `bool` has bits that are none.
    fn valid(_bytes: &[u8]) -> bool {
        true
    }

    /// Reads an element at any address.
    ///
    /// # Safety
    /// An element of `dtype()` lies there.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn load(at: *const u8) -> Self {
        // SAFETY: guaranteed by the caller.
        unsafe { at.cast::<Self>().read_unaligned() }
    }
}

macro_rules! numbers {
    ($($type:ty => $dtype:ident,)*) => {$(
        // SAFETY: the same number in C.
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

// SAFETY: the same number in C; times are such numbers.
unsafe impl Element for i64 {
    #[inline(always)]
    fn dtype() -> DType {
        DType::I64
    }

    fn reads(dtype: DType) -> bool {
        dtype == DType::I64 || dtype.is_time()
    }
}

// SAFETY: one byte, 0 or 1, which is looked at.
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
        // SAFETY: the caller's promise. Memory that nobody set may hold other bytes than 0 and 1.
        unsafe { at.read() != 0 }
    }
}

/// The bits of a half-precision number. With the feature `half` its type is an element, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct F16(pub u16);

/// The bits of a bfloat16, the upper half of an `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct BF16(pub u16);

#[cfg(feature = "half")]
numbers! { half::f16 => F16, half::bf16 => BF16, }

#[cfg(feature = "num-complex")]
numbers! { num_complex::Complex<f32> => C64, num_complex::Complex<f64> => C128, }

/// The bytes of elements.
pub(crate) fn bytes_of<T: Element>(elements: &[T]) -> &[u8] {
    // SAFETY: elements have no padding, as their trait promises.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}
