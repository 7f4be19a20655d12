// SPDX-License-Identifier: Apache-2.0
//! Opens libgufunc at run time, with the system's dlopen and no crate.

use crate::ffi::{guf_error, guf_status, Api, GUF_E_ARG, GUF_E_IO};
use core::ffi::{c_char, c_int, c_void, CStr};
use std::ffi::CString;
use std::path::Path;
use std::sync::OnceLock;

#[link(name = "dl")]
unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

const RTLD_NOW: c_int = 2;
/// What is opened when nothing is said: the name with the interface's version.
pub const DEFAULT: &str = "libgufunc.so.0.1";
/// The environment variable that names another file.
pub const VARIABLE: &str = "GUFUNC_LIBRARY";

static LIBRARY: OnceLock<Result<Api, String>> = OnceLock::new();

fn last_error() -> String {
    // SAFETY: NULL or a text of this thread's, which the next call of these functions replaces.
    unsafe {
        let text = dlerror();
        if text.is_null() {
            return String::new();
        }
        CStr::from_ptr(text).to_string_lossy().into_owned()
    }
}

fn load(path: &str) -> Result<Api, String> {
    let Ok(name) = CString::new(path) else {
        return Err(format!("libgufunc: the path {path:?} has a NUL in it"));
    };
    // SAFETY: a terminated string; that the file is a libgufunc is promised by who names it, in
    // the program or in its environment.
    let library = unsafe { dlopen(name.as_ptr(), RTLD_NOW) };
    if library.is_null() {
        return Err(format!(
            "libgufunc cannot be opened: {} ({VARIABLE}, or gufunc_sys::loader::open, names it)",
            last_error()
        ));
    }
    let symbol = |name: &'static str| {
        let name = CString::new(name).ok()?;
        // SAFETY: an open library and a terminated string.
        let found = unsafe { dlsym(library, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    };
    // SAFETY: the library is never closed, and its functions have the types of the headers.
    unsafe { Api::load(symbol) }
        .map_err(|name| format!("{path} has no {name}: a libgufunc of 0.1 or later is needed"))
}

fn default_path() -> String {
    std::env::var(VARIABLE).unwrap_or_else(|_| DEFAULT.to_string())
}

/// Opens the library at `path`. Once per process and before any other use; later calls give the
/// outcome of the first.
///
/// # Safety
/// The file is a libgufunc, or nothing of it runs: its constructors do now, its functions are
/// called by the types of this crate.
///
/// # Errors
/// What the system's loader says, or the entry point that the library lacks.
pub unsafe fn open(path: &Path) -> Result<(), String> {
    let path = path.to_str().ok_or_else(|| format!("libgufunc: {path:?} is not UTF-8"))?;
    LIBRARY.get_or_init(|| load(path)).as_ref().map(|_| ()).map_err(Clone::clone)
}

/// The library's functions; `None` when it cannot be opened, which [`reason`] explains.
#[inline]
pub fn api() -> Option<&'static Api> {
    LIBRARY.get_or_init(|| load(&default_path())).as_ref().ok()
}

/// Why there is no library; `None` when there is one.
pub fn reason() -> Option<&'static str> {
    LIBRARY.get_or_init(|| load(&default_path())).as_ref().err().map(String::as_str)
}

/// Fills an error record as the library would, and gives its status.
pub(crate) unsafe fn absent(error: *mut guf_error) -> guf_status {
    let reason = reason().unwrap_or_default();
    let status = if reason.contains("NUL") { GUF_E_ARG } else { GUF_E_IO };
    // SAFETY: NULL or the caller's record, as for every function of the library.
    let Some(error) = (unsafe { error.as_mut() }) else { return status };
    if error.struct_size as usize != size_of::<guf_error>() {
        return status;
    }
    *error = guf_error { status, argument: -1, axis: -1, ..guf_error::new() };
    for (place, byte) in error.message.iter_mut().zip(reason.bytes().take(487)) {
        *place = byte as c_char;
    }
    status
}

/// The text of a status while there is no library.
pub(crate) fn absent_text() -> *const c_char {
    c"libgufunc is not loaded".as_ptr()
}
