// SPDX-License-Identifier: Apache-2.0
//! Texts whose length the library reports.

use crate::status::check;
use crate::{Result, Status};
use gufunc_sys as sys;
use std::ffi::{c_char, CStr};

/// Calls `write` until the buffer is large enough.
pub(crate) fn written(
    write: impl Fn(*mut c_char, *mut u64, *mut sys::guf_error) -> sys::guf_status,
) -> Result<String> {
    let mut text: Vec<c_char> = vec![0; 1024];
    loop {
        let mut length = text.len() as u64;
        match check(|error| write(text.as_mut_ptr(), &mut length, error)) {
            Ok(()) => break,
            // The text may have grown since the length was reported, so the buffer at least
            // doubles.
            Err(error) if error.status() == Status::BUFFER_TOO_SMALL => {
                text.resize((length as usize).max(text.len() * 2), 0);
            }
            Err(error) => return Err(error),
        }
    }
    // SAFETY: the library terminated the text with a NUL, and the rest of the vector is zero.
    Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
}
