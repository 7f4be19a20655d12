// SPDX-License-Identifier: Apache-2.0
//! The memory and the operands of a case.

use crate::json::{Json, Result};
use gufunc::{weak, DType, Operand, Tensor};

/// Memory of a case, at an address that is `shift` bytes above a multiple of 16.
pub struct Buffer<'a> {
    memory: Vec<u128>,
    shift: usize,
    /// The bytes before the call.
    pub before: &'a [u8],
}

/// An operand of kind `array`.
#[derive(Clone)]
pub struct View {
    /// Index of the buffer.
    pub buffer: usize,
    /// Byte offset of element (0, ..., 0) in the buffer.
    pub offset: usize,
    pub dtype: DType,
    pub shape: Vec<i64>,
    pub strides: Vec<i64>,
    pub swapped: bool,
    read_only: bool,
}

impl<'a> Buffer<'a> {
    pub fn read(json: &Json, blob: &'a [u8]) -> Result<Self> {
        let (at, nbytes) = (json.need("at")?.size()?, json.need("nbytes")?.size()?);
        let before = blob.get(at..at + nbytes).ok_or("a buffer outside the group's bytes")?;
        let shift = json.need("shift")?.size()?;
        let mut buffer = Buffer { memory: vec![0; nbytes / 16 + 2], shift, before };
        // SAFETY: the memory holds all bytes after the shift.
        unsafe {
            std::ptr::copy_nonoverlapping(before.as_ptr(), buffer.start(), nbytes);
        }
        Ok(buffer)
    }

    fn start(&mut self) -> *mut u8 {
        // SAFETY: the offset is inside the memory.
        unsafe { self.memory.as_mut_ptr().cast::<u8>().add(self.shift) }
    }

    /// Returns the current bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the slice is the memory after the shift.
        unsafe {
            let start = self.memory.as_ptr().cast::<u8>().add(self.shift);
            std::slice::from_raw_parts(start, self.before.len())
        }
    }
}

impl View {
    pub fn read(json: &Json) -> Result<Option<Self>> {
        if json.get("kind") != Some(&Json::Text("array".to_string())) {
            return Ok(None);
        }
        Ok(Some(View {
            buffer: json.need("buffer")?.size()?,
            offset: json.need("offset")?.size()?,
            dtype: dtype_of(json.need("dtype")?)?,
            shape: json.need("shape")?.ints()?,
            strides: json.need("strides")?.ints()?,
            swapped: json.is("swapped"),
            read_only: json.is("read_only"),
        }))
    }

    pub fn tensor<'v>(&'v self, buffers: &mut [Buffer<'_>]) -> Result<Tensor<'v>> {
        let buffer = buffers.get_mut(self.buffer).ok_or("no such buffer")?;
        // SAFETY: no element of the corpus is outside its buffer, and the case owns the memory.
        let mut tensor = unsafe {
            let address = buffer.start().add(self.offset);
            Tensor::from_raw(address, self.dtype, &self.shape, Some(&self.strides))
        };
        if self.swapped {
            tensor = tensor.swapped();
        }
        Ok(if self.read_only { tensor.read_only() } else { tensor })
    }
}

pub fn dtype_of(json: &Json) -> Result<DType> {
    json.text()?.parse().map_err(|error: gufunc::Error| error.to_string())
}

fn bits_of(json: &Json) -> Result<f64> {
    let digits = json.text()?;
    let bits = u64::from_str_radix(digits, 16).map_err(|_| format!("bits {digits}"))?;
    Ok(f64::from_bits(bits))
}

/// Makes a weak integer of any size.
fn weak_int(digits: &str) -> Result<Operand<'static>> {
    if let Ok(small) = digits.parse::<i64>() {
        return Ok(weak(small));
    }
    let magnitude = digits.trim_start_matches('-');
    if magnitude.is_empty() || !magnitude.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(format!("{digits} is not an integer"));
    }
    let known = magnitude.parse::<u64>();
    let negative = digits.starts_with('-');
    Ok(Operand::weak_huge(known.clone().unwrap_or(u64::MAX), negative, known.is_err()))
}

fn scalar_of(json: &Json) -> Result<Operand<'static>> {
    let digits = json.need("bytes")?.text()?;
    let byte = |at: usize| digits.get(at..at + 2).and_then(|d| u8::from_str_radix(d, 16).ok());
    let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
    let bytes = bytes.ok_or_else(|| format!("bytes {digits}"))?;
    let dtype = dtype_of(json.need("dtype")?)?;
    Operand::scalar_of(dtype, &bytes).map_err(|error| error.to_string())
}

/// Makes an operand of any kind. `view` is the view of an operand of kind `array`.
pub fn operand<'v>(
    json: &Json,
    view: &'v Option<View>,
    buffers: &mut [Buffer<'_>],
) -> Result<Operand<'v>> {
    match (view, json.need("kind")?.text()?) {
        (Some(view), _) => Ok(view.tensor(buffers)?.into()),
        (None, "scalar") => scalar_of(json),
        (None, "weak_int") => weak_int(json.need("value")?.text()?),
        (None, "weak_float") => Ok(weak(bits_of(json.need("bits")?)?)),
        (None, "weak_complex") => match json.need("bits")?.list()? {
            [real, imaginary] => Ok(weak([bits_of(real)?, bits_of(imaginary)?])),
            _ => Err("bits".to_string()),
        },
        (None, kind) => Err(format!("operand of the kind \"{kind}\"")),
    }
}
