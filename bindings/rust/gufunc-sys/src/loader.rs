// SPDX-License-Identifier: Apache-2.0
//! Opens libgufunc at run time with the system's dlopen, without another crate.

use crate::ffi::{guf_error, guf_status, Api, GUF_E_ARG, GUF_E_IO};
use core::ffi::{c_char, c_int, c_void, CStr};
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

#[link(name = "dl")]
unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

const RTLD_NOW: c_int = 2;
/// The default file name: the library with its interface version.
pub const DEFAULT: &str = "libgufunc.so.0.1";
/// The environment variable that selects another file.
pub const VARIABLE: &str = "GUFUNC_LIBRARY";

/// Why the library is not open, as a sentence, and the status that every call then returns.
struct Absence {
    status: guf_status,
    reason: String,
}

static LIBRARY: OnceLock<Result<Api, Absence>> = OnceLock::new();

fn last_error() -> String {
    // SAFETY: `dlerror` returns NULL or a text that is valid until this thread calls `dlerror`
    // again.
    unsafe {
        let text = dlerror();
        if text.is_null() {
            return String::new();
        }
        CStr::from_ptr(text).to_string_lossy().into_owned()
    }
}

fn load(path: &OsStr) -> Result<Api, Absence> {
    let Ok(name) = CString::new(path.as_bytes()) else {
        let reason = format!("libgufunc: expected a path without NUL characters, got {path:?}");
        return Err(Absence { status: GUF_E_ARG, reason });
    };
    let absent = |reason| Absence { status: GUF_E_IO, reason };
    // SAFETY: the text is NUL-terminated. The program or environment that names the file guarantees
    // that the file is a libgufunc.
    let library = unsafe { dlopen(name.as_ptr(), RTLD_NOW) };
    if library.is_null() {
        return Err(absent(format!(
            "libgufunc cannot be opened: {} ({VARIABLE} or {} selects the file)",
            last_error(),
            "gufunc_sys::loader::open"
        )));
    }
    let symbol = |name: &'static str| {
        let name = CString::new(name).ok()?;
        // SAFETY: the library is open, and the text is NUL-terminated.
        let found = unsafe { dlsym(library, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    };
    // SAFETY: the library is never closed, and its functions have the types of the headers.
    unsafe { Api::load(symbol) }.map_err(|name| {
        let path = path.to_string_lossy();
        absent(format!("{path}: no function '{name}'; expected libgufunc 0.1 or later"))
    })
}

fn library() -> &'static Result<Api, Absence> {
    LIBRARY.get_or_init(|| {
        load(&std::env::var_os(VARIABLE).unwrap_or_else(|| OsString::from(DEFAULT)))
    })
}

/// Opens the library at `path`. The library is opened once per process, at the first use, so call
/// this function before anything else. Later calls return the result of the first call.
///
/// # Safety
/// The file is a libgufunc or cannot be opened. The file's constructors run now, and its functions
/// are called with the types of this crate.
///
/// # Errors
/// The message of the dynamic loader, or the name of a function that is missing in the library.
pub unsafe fn open(path: &Path) -> Result<(), String> {
    let library = LIBRARY.get_or_init(|| load(path.as_os_str()));
    library.as_ref().map(|_| ()).map_err(|absence| absence.reason.clone())
}

/// Returns the functions of the library, or `None` if it cannot be opened ([`reason`] returns why).
#[inline]
pub fn api() -> Option<&'static Api> {
    library().as_ref().ok()
}

/// Returns why the library cannot be opened, or `None` if it is open.
pub fn reason() -> Option<&'static str> {
    library().as_ref().err().map(|absence| absence.reason.as_str())
}

/// Fills an error record as a function of the library would, and returns the status. Every call
/// uses this function instead of the library's function if the library is not open.
pub(crate) unsafe fn absent(error: *mut guf_error) -> guf_status {
    let (status, reason) = match library() {
        Ok(_) => (GUF_E_IO, ""),
        Err(absence) => (absence.status, absence.reason.as_str()),
    };
    // SAFETY: `error` is NULL or the caller's record, as for every function of the library.
    let Some(error) = (unsafe { error.as_mut() }) else { return status };
    if error.struct_size as usize != size_of::<guf_error>() {
        return status;
    }
    *error = guf_error { status, argument: -1, axis: -1, ..guf_error::new() };
    let mut length = reason.len().min(error.message.len() - 1);
    while !reason.is_char_boundary(length) {
        length -= 1;
    }
    for (place, byte) in error.message.iter_mut().zip(reason.bytes().take(length)) {
        *place = byte as c_char;
    }
    status
}

/// Returns the text of a status when there is no library.
pub(crate) fn absent_text() -> *const c_char {
    c"libgufunc is not loaded".as_ptr()
}
