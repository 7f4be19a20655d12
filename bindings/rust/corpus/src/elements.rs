// SPDX-License-Identifier: Apache-2.0
//! Compares elements, bit by bit or with a tolerance.

use crate::json::{Json, Result};
use gufunc::DType;

/// The format of an element.
pub struct Form {
    /// Size of an element in bytes.
    pub itemsize: usize,
    /// Number of real parts: 2 for complex numbers, 0 for dtypes that are not floating-point.
    parts: usize,
    /// Bit patterns of a part: the mask of the magnitude (all bits except the sign), and infinity.
    magnitude: u64,
    infinity: u64,
    eps: f64,
}

impl Form {
    pub fn of(dtype: DType) -> Result<Form> {
        let info = dtype.info().map_err(|error| error.to_string())?;
        let itemsize = info.itemsize;
        let parts = match info.kind {
            'f' | 'E' => 1,
            'c' => 2,
            _ => 0,
        };
        let (magnitude, infinity, eps) = match (info.kind, itemsize / parts.max(1)) {
            ('E', _) => (0x7fff, 0x7f80, 2f64.powi(-7)),
            (_, 2) => (0x7fff, 0x7c00, 2f64.powi(-10)),
            (_, 4) => (0x7fff_ffff, 0x7f80_0000, 2f64.powi(-23)),
            _ => (i64::MAX as u64, 0x7ff0_0000_0000_0000, 2f64.powi(-52)),
        };
        Ok(Form { itemsize, parts, magnitude, infinity, eps })
    }

    /// Returns the size of a part in bytes, which is the unit of byte swapping.
    pub fn part(&self) -> usize {
        self.itemsize / self.parts.max(1)
    }

    /// Returns the position of a float in the sorted sequence of all floats of its format. 0 and -0
    /// have the same position.
    fn rank(&self, bits: u64) -> i64 {
        let magnitude = (bits & self.magnitude) as i64;
        if bits == bits & self.magnitude {
            magnitude
        } else {
            -magnitude
        }
    }

    fn is_nan(&self, bits: u64) -> bool {
        bits & self.magnitude > self.infinity
    }

    fn value(&self, bits: u64) -> f64 {
        match self.part() {
            8 => f64::from_bits(bits),
            _ => f64::from(f32::from_bits(bits as u32)),
        }
    }

    fn real_right(&self, found: u64, expected: u64, ulp: u64) -> bool {
        match (self.is_nan(found), self.is_nan(expected)) {
            (true, true) => true,
            _ if ulp == 0 => found == expected,
            (false, false) => self.rank(found).abs_diff(self.rank(expected)) <= ulp,
            _ => false,
        }
    }

    /// Compares the parts of a complex number. The tolerance is in ulps of the larger part of the
    /// expected number.
    fn complex_right(&self, found: [u64; 2], expected: [u64; 2], ulp: u64) -> bool {
        let largest = expected.iter().map(|&bits| self.value(bits).abs()).fold(0.0, f64::max);
        let limit = match largest > 0.0 && largest.is_finite() {
            true => ulp as f64 * self.eps * power_of_two_below(largest),
            false => 0.0,
        };
        found.into_iter().zip(expected).all(|(a, b)| {
            let (near, far) = (self.value(a), self.value(b));
            self.real_right(a, b, 0) || near == far || (near - far).abs() <= limit
        })
    }

    fn right(&self, found: &[u8], expected: &[u8], ulp: u64) -> bool {
        let part = |bytes: &[u8], place: usize| bits_of(&bytes[place * self.part()..], self.part());
        match self.parts {
            0 => found == expected,
            1 => self.real_right(part(found, 0), part(expected, 0), ulp),
            _ if ulp == 0 => (0..2).all(|k| self.real_right(part(found, k), part(expected, k), 0)),
            _ => {
                let both = |bytes| [part(bytes, 0), part(bytes, 1)];
                self.complex_right(both(found), both(expected), ulp)
            }
        }
    }
}

/// Returns the largest power of two that is at most the given positive number.
fn power_of_two_below(value: f64) -> f64 {
    let mut power = f64::from_bits(value.to_bits() & 0x7ff0_0000_0000_0000);
    if power == 0.0 {
        power = f64::from_bits(1u64 << (63 - value.to_bits().leading_zeros()));
    }
    power
}

fn bits_of(bytes: &[u8], size: usize) -> u64 {
    bytes[..size].iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}

/// Checks that the elements in `found`, which are in C order, equal the expected result.
pub fn all_right(blob: &[u8], result: &Json, form: &Form, found: &[u8]) -> Result<()> {
    let (at, nbytes) = (result.need("at")?.size()?, result.need("nbytes")?.size()?);
    let count = found.len() / form.itemsize;
    let expected = blob.get(at..at + nbytes).ok_or("a result outside the group's bytes")?;
    if nbytes != found.len() {
        return Err(format!("expected {nbytes} bytes, got {}", found.len()));
    }
    let defined = match result.get("defined") {
        Some(place) => {
            let at = place.size()?;
            Some(blob.get(at..at + count).ok_or("outside the group's bytes")?)
        }
        None => None,
    };
    let ulp = u64::try_from(result.need("ulp")?.int()?).map_err(|error| error.to_string())?;
    let pairs = found.chunks(form.itemsize).zip(expected.chunks(form.itemsize));
    for (k, (a, b)) in pairs.enumerate() {
        if defined.is_none_or(|defined| defined[k] != 0) && !form.right(a, b, ulp) {
            return Err(format!("element {k}: expected {b:02x?} within {ulp} ULP, got {a:02x?}"));
        }
    }
    Ok(())
}
