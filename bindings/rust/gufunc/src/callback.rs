// SPDX-License-Identifier: Apache-2.0
//! Functions through which C calls closures of the program. They write the error of a closure to
//! C's error record, and no panic propagates out of them.

use crate::{Error, Result, Status};
use gufunc_sys as sys;
use std::any::Any;
use std::ffi::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Runs a closure and writes its error, or the text of its panic, to C's error record.
///
/// # Safety
/// `record` is NULL or an error record that C passed to be filled in.
pub(crate) unsafe fn guarded(
    record: *mut sys::guf_error,
    run: impl FnOnce() -> Result<()>,
) -> sys::guf_status {
    let answer = catch_unwind(AssertUnwindSafe(run));
    let Err(failure) = answer.unwrap_or_else(|panic| Err(of_panic(panic))) else {
        return sys::GUF_OK;
    };
    // C would treat a status that is not an error, such as `OK`, as success.
    let status = if failure.status().is_error() { failure.status() } else { Status::LOOP };
    // SAFETY: guaranteed by the caller.
    if let Some(record) = unsafe { record.as_mut() } {
        report(record, status, &failure);
    }
    status.0
}

fn report(record: &mut sys::guf_error, status: Status, failure: &Error) {
    let place = |number: Option<i64>| number.and_then(|n| i32::try_from(n).ok()).unwrap_or(-1);
    record.status = status.0;
    record.argument = place(failure.argument().map(|n| n as i64));
    record.axis = place(failure.axis());
    record.native_code = failure.native_code();
    let text = failure.message();
    let capacity = record.message.len() - 1;
    // The text is cut at a character boundary.
    let end = (0..=capacity.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    let bytes = text.bytes().take(end.unwrap_or(0)).chain([0]);
    for (place, byte) in record.message.iter_mut().zip(bytes) {
        *place = byte as c_char;
    }
}

#[cold]
fn of_panic(panic: Box<dyn Any + Send>) -> Error {
    let text = match panic.downcast::<&'static str>() {
        Ok(text) => text.to_string(),
        Err(panic) => match panic.downcast::<String>() {
            Ok(text) => *text,
            Err(other) => {
                // Dropping the payload might panic again, where no panic is allowed.
                std::mem::forget(other);
                "a panic that has no text".to_string()
            }
        },
    };
    Error::new(Status::LOOP, text)
}

/// Runs a closure and ignores a panic. Used in callbacks that cannot report a failure to C.
pub(crate) fn quietly(run: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
        of_panic(panic);
    }
}

/// Frees the boxed closure of a callback. The library may call this function on any thread.
pub(crate) unsafe extern "C" fn destroy<T>(user: *mut c_void) {
    // SAFETY: `user` is the box that was passed to the library, which frees it once.
    let closure = unsafe { Box::from_raw(user.cast::<T>()) };
    quietly(|| drop(closure));
}
