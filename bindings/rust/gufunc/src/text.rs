// SPDX-License-Identifier: Apache-2.0
//! Texts whose length the library tells first.

use crate::status::check;
use crate::{Result, Status};
use gufunc_sys as sys;
use std::ffi::{c_char, CStr};

/// Calls until the memory suffices.
pub(crate) fn written(
    write: impl Fn(*mut c_char, *mut u64, *mut sys::guf_error) -> sys::guf_status,
) -> Result<String> {
    let mut text: Vec<c_char> = vec![0; 1024];
    loop {
        let mut length = text.len() as u64;
        match check(|error| write(text.as_mut_ptr(), &mut length, error)) {
            Ok(()) => break,
            // What is shown may grow meanwhile: the length counts only where it is larger.
            Err(error) if error.status() == Status::BUFFER_TOO_SMALL => {
                text.resize((length as usize).max(text.len() * 2), 0);
            }
            Err(error) => return Err(error),
        }
    }
    // SAFETY: the library ended it with a NUL; the vector is zeros behind it.
    Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
}
