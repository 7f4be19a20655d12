// SPDX-License-Identifier: Apache-2.0
//! Compares the outcome of a case with the expected outcome, which "What is expected" in the
//! corpus's README.md describes.

use crate::case::{Case, Outcome};
use crate::elements::{all_right, Form};
use crate::json::{Json, Result};
use crate::operands::View;
use gufunc::{DType, DynArray, Order};

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
