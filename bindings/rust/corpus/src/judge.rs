// SPDX-License-Identifier: Apache-2.0
//! Compares the outcome of a case with the expected outcome, which "What is expected" in the
//! corpus's README.md describes. Elements are compared bit by bit or with a tolerance.

use crate::case::{Case, Outcome, View};
use crate::json::{Json, Result};
use gufunc::{DType, DynArray, Order};

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

/// Returns an error that describes the first difference between the outcome and the expected
/// outcome.
pub fn judge(case: &Case<'_>, blob: &[u8], outcome: Outcome) -> Result<()> {
    let expect = case.json.need("expect")?;
    let expected = expect.need("status")?.text()?;
    let arrays = match outcome {
        Ok(_) if expected != "GUF_OK" => return Err(format!("expected {expected}, got success")),
        Ok(arrays) => arrays,
        Err(error) => {
            let (status, message) = (error.status().name(), error.message());
            if status != expected {
                return Err(format!("expected {expected}, got {status} \"{message}\""));
            }
            let text = expect.need("message")?.text()?;
            if message != text {
                return Err(format!("message: expected \"{text}\", got \"{message}\""));
            }
            let argument = error.argument().map_or(-1, |at| at as i64);
            let places = [argument, error.axis().unwrap_or(-1)];
            let expected = [expect.need("argument")?.int()?, expect.need("axis")?.int()?];
            if places != expected {
                return Err(format!("argument and axis: expected {expected:?}, got {places:?}"));
            }
            return if expect.is("written") { Ok(()) } else { others_kept(case, &[]) };
        }
    };
    if let Some(fp_flags) = expect.get("fp_flags") {
        if i64::from(case.fp_flags.0) != fp_flags.int()? {
            return Err(format!("fp_flags: expected {}, got {}", fp_flags.int()?, case.fp_flags.0));
        }
    }
    let given = given_views(case, expect, arrays.len())?;
    let results = expect.need("results")?.list()?;
    if results.len() != given.len() {
        return Err(format!("expected {} results, got {}", results.len(), given.len()));
    }
    for (place, (result, view)) in results.iter().zip(&given).enumerate() {
        match (view, arrays.get(place).and_then(Option::as_ref)) {
            (Some(view), _) => given_right(case, blob, result, view)?,
            (None, Some(array)) => allocated_right(blob, result, array)?,
            (None, None) => return Err(format!("result {place} is missing")),
        }
    }
    others_kept(case, &given)
}

/// Returns the views through which the results are read, with `None` for an allocated output.
fn given_views(case: &Case<'_>, expect: &Json, nresults: usize) -> Result<Vec<Option<View>>> {
    let input = |place: usize| case.inputs.get(place).cloned().ok_or("no such input".to_string());
    if let Some(inouts) = expect.get("inouts") {
        return inouts.list()?.iter().map(|place| input(place.size()?)).collect();
    }
    if case.json.need("method")?.text()? == "at" {
        return Ok(vec![input(0)?]);
    }
    Ok((0..nresults).map(|place| case.outputs.get(place).cloned().flatten()).collect())
}

fn same_shape(result: &Json, dtype: DType, shape: &[i64]) -> Result<()> {
    let (name, expected) = (result.need("dtype")?.text()?, result.need("shape")?.ints()?);
    if dtype.name() != name {
        return Err(format!("dtype: expected {name}, got {dtype}"));
    }
    if expected != shape {
        return Err(format!("shape: expected {expected:?}, got {shape:?}"));
    }
    Ok(())
}

/// Returns the offsets of the elements of a view in its buffer, in C order.
fn places(view: &View) -> Vec<usize> {
    let mut places = vec![view.offset as i64];
    for (&extent, &stride) in view.shape.iter().zip(&view.strides) {
        places = places.iter().flat_map(|&at| (0..extent).map(move |i| at + i * stride)).collect();
    }
    places.into_iter().map(|at| at as usize).collect()
}

fn given_right(case: &Case<'_>, blob: &[u8], result: &Json, view: &View) -> Result<()> {
    same_shape(result, view.dtype, &view.shape)?;
    let form = Form::of(view.dtype)?;
    let bytes = case.buffers.get(view.buffer).ok_or("no such buffer")?.bytes();
    let mut found = Vec::new();
    for at in places(view) {
        let mut element = bytes.get(at..at + form.itemsize).ok_or("outside of it")?.to_vec();
        if view.swapped {
            element.chunks_mut(form.part()).for_each(<[u8]>::reverse);
        }
        found.extend(element);
    }
    all_right(blob, result, &form, &found)
}

fn allocated_right(blob: &[u8], result: &Json, array: &DynArray) -> Result<()> {
    let text = |error: gufunc::Error| error.to_string();
    let info = array.info().map_err(text)?;
    same_shape(result, info.dtype, &info.shape)?;
    if let (Some(expected), true) = (result.get("strides"), info.size > 0) {
        let longer = info.shape.iter().zip(&info.strides).filter(|(&extent, _)| extent > 1);
        let strides: Vec<i64> = longer.map(|(_, &stride)| stride).collect();
        if strides != expected.ints()? {
            return Err(format!("strides: expected {:?}, got {strides:?}", expected.ints()?));
        }
    }
    let mut found = vec![0u8; info.nbytes];
    // SAFETY: the buffer has the size of the array, and the copy is complete on return.
    unsafe { array.queue_copy_to_host(found.as_mut_ptr(), info.nbytes, Order::C, None) }
        .map_err(text)?;
    all_right(blob, result, &Form::of(info.dtype)?, &found)
}

/// Checks that no bytes changed except the bytes of written elements.
fn others_kept(case: &Case<'_>, written: &[Option<View>]) -> Result<()> {
    for (number, buffer) in case.buffers.iter().enumerate() {
        let mut touched = vec![false; buffer.before.len()];
        for view in written.iter().flatten().filter(|view| view.buffer == number) {
            let itemsize = Form::of(view.dtype)?.itemsize;
            for at in places(view) {
                touched[at..at + itemsize].fill(true);
            }
        }
        let pairs = buffer.bytes().iter().zip(buffer.before).zip(touched);
        if let Some(at) = pairs.into_iter().position(|((now, then), free)| now != then && !free) {
            return Err(format!("byte {at} of buffer {number} changed"));
        }
    }
    Ok(())
}
