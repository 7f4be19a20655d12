// SPDX-License-Identifier: Apache-2.0
//! Floating-point flags.

use gufunc_sys as sys;
use std::ops::{BitOr, BitOrAssign};

/// A set of floating-point flags, combined with `|`, as in NumPy's errstate. The flags depend only
/// on the values of operands and results, and are the same on every device.
///
/// ```
/// use gufunc::{ufunc, FpFlags};
/// let mut found = FpFlags::NONE;
/// ufunc("divide")?.with().report_fp_flags(FpFlags::ALL, &mut found).call((&[1.0], &[0.0]))?;
/// assert_eq!(found, FpFlags::DIVIDE);
/// # Ok::<(), gufunc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct FpFlags(pub u32);

impl FpFlags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// An infinite result of finite operands at a pole: 1/0, log(0).
    pub const DIVIDE: Self = Self(sys::GUF_FP_DIVIDE);
    /// Any other infinite result of finite operands.
    pub const OVERFLOW: Self = Self(sys::GUF_FP_OVERFLOW);
    /// A result below the smallest normal number, from nonzero operands.
    pub const UNDERFLOW: Self = Self(sys::GUF_FP_UNDERFLOW);
    /// A NaN result of operands that are not NaN: 0/0, sqrt(-1).
    pub const INVALID: Self = Self(sys::GUF_FP_INVALID);
    /// Division of an integer by zero.
    pub const INTEGER_DIVIDE: Self = Self(sys::GUF_FP_INTEGER_DIVIDE);
    /// All flags.
    pub const ALL: Self = Self(31);

    /// Whether all flags of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for FpFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for FpFlags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
