// SPDX-License-Identifier: Apache-2.0
//! Functions of the whole library, and contexts.

use crate::handle::counted;
use crate::status::{check, run, static_text, text_of};
use crate::{Device, Error, Module, Result, Status, Ufunc};
use gufunc_sys as sys;
use std::ffi::CString;
use std::path::Path;
use std::time::Duration;

counted! {
    /// A registry of ufuncs and modules, in addition to the ufuncs that are part of the library.
    ///
    /// Most programs use the context of the process, [`Context::default`]. A new context keeps its
    /// names separate. Cloning returns another reference to the same context.
    Context, guf_context, guf_context_retain, guf_context_release
}

impl Default for Context {
    /// Returns the default context of the process, which is never freed.
    fn default() -> Self {
        Context { raw: std::ptr::null_mut() }
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.raw.is_null() { "Context(default)" } else { "Context" })
    }
}

impl Context {
    /// Creates a separate context.
    ///
    /// # Errors
    /// [`Status::NO_MEMORY`].
    pub fn new() -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer to the handle is valid for the call.
        check(|error| unsafe { sys::guf_context_create(0, &mut raw, error) })?;
        Ok(Context { raw })
    }

    /// Finds a device: `"cpu"`, `"cuda:0"`, `"roc:1"`, or `"auto"`, which chooses the first usable
    /// device.
    ///
    /// # Errors
    /// [`Status::ARG`] for a malformed spec, [`Status::NO_BACKEND`], [`Status::NO_DEVICE`], or the
    /// reason why the backend is not usable.
    pub fn device(&self, spec: &str) -> Result<Device> {
        let spec = c_string(spec)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the text is NUL-terminated, and the handle pointer is valid.
        check(|error| unsafe { sys::guf_device_get(self.raw, spec.as_ptr(), &mut raw, error) })?;
        Ok(Device::new(raw))
    }

    /// Finds a ufunc by its name: `"add"`, or `"module:name"` for a ufunc of a module.
    ///
    /// # Errors
    /// [`Status::NOT_FOUND`]; the message contains the most similar name.
    pub fn ufunc(&self, name: &str) -> Result<Ufunc> {
        let name = c_string(name)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the text is NUL-terminated, and the handle pointer is valid.
        check(|error| unsafe { sys::guf_ufunc_find(self.raw, name.as_ptr(), &mut raw, error) })?;
        // SAFETY: the function returned one reference.
        unsafe { Ufunc::from_raw(raw) }
    }

    /// Returns the full names of all ufuncs in the context, sorted.
    ///
    /// # Errors
    /// [`Status::INDEX`] if another thread unloads a module meanwhile.
    pub fn ufunc_names(&self) -> Result<Vec<String>> {
        let mut count = 0;
        // SAFETY: the pointer to the number is valid for the call.
        check(|error| unsafe { sys::guf_ufunc_count(self.raw, &mut count, error) })?;
        let name_at = |index| {
            let mut name = [0; 256];
            // SAFETY: the buffer has the length that is passed.
            check(|error| unsafe {
                sys::guf_ufunc_name_at(self.raw, index, name.as_mut_ptr(), 256, error)
            })?;
            Ok(text_of(&name))
        };
        (0..count).map(name_at).collect()
    }

    /// Loads a module that gufcc made, and registers its ufuncs as `"module:name"`. The ufuncs can
    /// be found as long as the module, or one of its ufuncs, exists.
    ///
    /// # Safety
    /// Code of the file runs in this process, now and in calls of the module's ufuncs. The caller
    /// guarantees that the code is sound and accesses no memory except its operands.
    ///
    /// # Errors
    /// [`Status::IO`], [`Status::BAD_FILE`], [`Status::ABI`], or [`Status::EXISTS`] for another
    /// module of the same name.
    #[must_use = "its ufuncs are found as long as it is kept"]
    pub unsafe fn load_module(&self, path: impl AsRef<Path>) -> Result<Module> {
        Module::load(self, path.as_ref(), 0)
    }

    /// Loads a module without running code of the file on the host: only its device images are
    /// used, and its ufuncs have no loops for the cpu.
    ///
    /// # Safety
    /// The caller guarantees that the images access no memory except their operands.
    ///
    /// # Errors
    /// As [`Context::load_module`].
    pub unsafe fn load_module_data(&self, path: impl AsRef<Path>) -> Result<Module> {
        Module::load(self, path.as_ref(), sys::GUF_MODULE_DATA_ONLY)
    }
}

/// Returns a NUL-terminated copy of a text.
pub(crate) fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::new(Status::ARG, format!("{text:?} has a NUL in it")))
}

/// Returns the version of the loaded library: major, minor, patch.
pub fn version() -> (u32, u32, u32) {
    // SAFETY: the function has no parameters.
    let packed = unsafe { sys::guf_version() };
    (packed >> 22, packed >> 12 & 0x3ff, packed & 0xfff)
}

/// Returns the version of the loaded library as text.
pub fn version_string() -> &'static str {
    // SAFETY: the function has no parameters.
    static_text(unsafe { sys::guf_version_string() })
}

/// Finds a device in the default context; see [`Context::device`].
///
/// # Errors
/// As [`Context::device`].
pub fn device(spec: &str) -> Result<Device> {
    Context::default().device(spec)
}

/// Finds a ufunc in the default context; see [`Context::ufunc`].
///
/// # Errors
/// As [`Context::ufunc`].
///
/// ```
/// let sqrt = gufunc::ufunc("sqrt")?;
/// assert_eq!(sqrt.call(&[1.0, 4.0, 9.0])?.to_vec::<f64>()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), gufunc::Error>(())
/// ```
pub fn ufunc(name: &str) -> Result<Ufunc> {
    Context::default().ufunc(name)
}

/// Loads a module into the default context; see [`Context::load_module`].
///
/// # Safety
/// As [`Context::load_module`].
///
/// # Errors
/// As [`Context::load_module`].
#[must_use = "its ufuncs are found as long as it is kept"]
pub unsafe fn load_module(path: impl AsRef<Path>) -> Result<Module> {
    // SAFETY: guaranteed by the caller.
    unsafe { Context::default().load_module(path) }
}

/// Frees objects whose last reference was dropped, and runs at most `max_callbacks` queued release
/// callbacks (0: all) on this thread. Returns the number of callbacks that ran.
///
/// # Errors
/// Any error that the library reports.
pub fn poll(max_callbacks: u32) -> Result<u32> {
    let mut ran = 0;
    // SAFETY: the pointer to the number is valid for the call.
    check(|error| unsafe { sys::guf_poll(max_callbacks, &mut ran, error) })?;
    Ok(ran)
}

/// The severity of a line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogLevel {
    /// Something failed.
    Error,
    /// Something that may not be intended.
    Warning,
    /// A decision of the library.
    Information,
}

/// Removes and returns the oldest line of the process's log. The library itself prints nothing.
///
/// # Errors
/// Any error that the library reports.
pub fn log_read() -> Result<Option<(LogLevel, String)>> {
    let (mut text, mut level) = ([0; 1024], -1);
    // SAFETY: the buffer has the length that is passed.
    check(|error| unsafe { sys::guf_log_read(text.as_mut_ptr(), text.len(), &mut level, error) })?;
    let level = match level {
        0 => LogLevel::Error,
        1 => LogLevel::Warning,
        2 => LogLevel::Information,
        _ => return Ok(None),
    };
    Ok(Some((level, text_of(&text))))
}

/// Waits for all streams, stops the library's threads, runs queued callbacks and frees caches. A
/// program need not call it at exit. Returns `false` if work was still running after `timeout`; in
/// this case the library stays usable.
///
/// # Errors
/// Any error that the library reports.
pub fn shutdown(timeout: Option<Duration>) -> Result<bool> {
    // SAFETY: the function accepts any number.
    let status = run(|error| unsafe { sys::guf_shutdown(nanoseconds(timeout), error) })?;
    Ok(status == Status::OK)
}

/// Converts a time limit to nanoseconds; `None` means no limit.
pub(crate) fn nanoseconds(timeout: Option<Duration>) -> u64 {
    timeout.map_or(u64::MAX, |t| u64::try_from(t.as_nanos()).unwrap_or(u64::MAX))
}
