// SPDX-License-Identifier: Apache-2.0
//! Closures of the program that C calls: what they fail with becomes C's record, and no panic
//! leaves them.

use crate::{Error, Result, Status};
use gufunc_sys as sys;
use std::any::Any;
use std::ffi::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Runs a closure; its error, or its panic's text, goes into the record of C's.
///
/// # Safety
/// `record` is one that C gave to be filled in, or NULL.
pub(crate) unsafe fn guarded(
    record: *mut sys::guf_error,
    run: impl FnOnce() -> Result<()>,
) -> sys::guf_status {
    let answer = catch_unwind(AssertUnwindSafe(run));
    let Err(failure) = answer.unwrap_or_else(|panic| Err(of_panic(panic))) else {
        return sys::GUF_OK;
    };
    // An answer that is no error, such as `OK`, would be taken for success.
    let status = if failure.status().is_error() { failure.status() } else { Status::LOOP };
    // SAFETY: the caller's promise.
    if let Some(record) = unsafe { record.as_mut() } {
        tell(record, status, &failure);
    }
    status.0
}

fn tell(record: &mut sys::guf_error, status: Status, failure: &Error) {
    let place = |number: Option<i64>| number.and_then(|n| i32::try_from(n).ok()).unwrap_or(-1);
    record.status = status.0;
    record.argument = place(failure.argument().map(|n| n as i64));
    record.axis = place(failure.axis());
    record.native_code = failure.native_code();
    let text = failure.message();
    let room = record.message.len() - 1;
    // Cut where a character begins.
    let end = (0..=room.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
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
                // Its drop might panic in its turn, where nobody may.
                std::mem::forget(other);
                "a panic that has no text".to_string()
            }
        },
    };
    Error::new(Status::LOOP, text)
}

/// Runs what C waits for no answer of: a panic ends here, and so does its payload.
pub(crate) fn quietly(run: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
        of_panic(panic);
    }
}

/// Frees what a closure was given as, on whatever thread.
pub(crate) unsafe extern "C" fn destroy<T>(user: *mut c_void) {
    // SAFETY: the box that was handed over, given back once.
    let closure = unsafe { Box::from_raw(user.cast::<T>()) };
    quietly(|| drop(closure));
}
