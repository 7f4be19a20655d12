// SPDX-License-Identifier: Apache-2.0
//! The library as a whole, and contexts.

use crate::handle::counted;
use crate::status::{ask, check, static_text, text_of};
use crate::{Device, Error, Module, Result, Status, Ufunc};
use gufunc_sys as sys;
use std::ffi::CString;
use std::path::Path;
use std::time::Duration;

counted! {
    /// A registry of ufuncs and modules over the standard library.
    ///
    /// Most programs use the process's own, [`Context::default`]; a new one keeps names apart.
    /// Cloning gives another reference to the same context.
    Context, guf_context, guf_context_retain, guf_context_release
}

impl Default for Context {
    /// The process's default context, which is never freed.
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
    /// A context of its own.
    ///
    /// # Errors
    /// [`Status::NO_MEMORY`].
    pub fn new() -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: a place for the handle.
        check(|error| unsafe { sys::guf_context_create(0, &mut raw, error) })?;
        Ok(Context { raw })
    }

    /// Finds a device: `"cpu"`, `"cuda:0"`, `"roc:1"`, or `"auto"`, the first usable one.
    ///
    /// # Errors
    /// [`Status::ARG`] for a malformed spec, [`Status::NO_BACKEND`], [`Status::NO_DEVICE`], or why
    /// the backend is not usable.
    pub fn device(&self, spec: &str) -> Result<Device> {
        let spec = c_string(spec)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a terminated text and a place for the handle.
        check(|error| unsafe { sys::guf_device_get(self.raw, spec.as_ptr(), &mut raw, error) })?;
        Ok(Device::new(raw))
    }

    /// Finds a ufunc by its name, or by `"module:name"`.
    ///
    /// # Errors
    /// [`Status::NOT_FOUND`], whose message names the nearest.
    pub fn ufunc(&self, name: &str) -> Result<Ufunc> {
        let name = c_string(name)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a terminated text and a place for the handle.
        check(|error| unsafe { sys::guf_ufunc_find(self.raw, name.as_ptr(), &mut raw, error) })?;
        // SAFETY: one reference for the caller.
        unsafe { Ufunc::from_raw(raw) }
    }

    /// The full names of all ufuncs that the context knows, sorted.
    ///
    /// # Errors
    /// [`Status::INDEX`] when another thread's module went away meanwhile.
    pub fn ufunc_names(&self) -> Result<Vec<String>> {
        let mut count = 0;
        // SAFETY: a place for the number.
        check(|error| unsafe { sys::guf_ufunc_count(self.raw, &mut count, error) })?;
        let name_at = |index| {
            let mut name = [0; 256];
            // SAFETY: memory of the length that is said.
            check(|error| unsafe {
                sys::guf_ufunc_name_at(self.raw, index, name.as_mut_ptr(), 256, error)
            })?;
            Ok(text_of(&name))
        };
        (0..count).map(name_at).collect()
    }

    /// Loads a module that gufcc made, and registers its ufuncs as `"module:name"`. They are found
    /// as long as the module, or one of them, is kept.
    ///
    /// # Safety
    /// The file's code runs in this process, now and in calls of its ufuncs: it is trusted to be
    /// sound, and to touch no memory but its operands'.
    ///
    /// # Errors
    /// [`Status::IO`], [`Status::BAD_FILE`], [`Status::ABI`], or [`Status::EXISTS`] for another
    /// module of the same name.
    #[must_use = "its ufuncs are found as long as it is kept"]
    pub unsafe fn load_module(&self, path: impl AsRef<Path>) -> Result<Module> {
        Module::load(self, path.as_ref(), 0)
    }

    /// The same, but runs no code of the file on the host: device images only, no cpu loops.
    ///
    /// # Safety
    /// The images are trusted to touch no memory but their operands'.
    ///
    /// # Errors
    /// As [`Context::load_module`].
    pub unsafe fn load_module_data(&self, path: impl AsRef<Path>) -> Result<Module> {
        Module::load(self, path.as_ref(), sys::GUF_MODULE_DATA_ONLY)
    }
}

/// A terminated copy of a text.
pub(crate) fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::new(Status::ARG, format!("{text:?} has a NUL in it")))
}

/// The version of the library that runs: major, minor, patch.
pub fn version() -> (u32, u32, u32) {
    // SAFETY: takes nothing.
    let packed = unsafe { sys::guf_version() };
    (packed >> 22, packed >> 12 & 0x3ff, packed & 0xfff)
}

/// The same as text.
pub fn version_string() -> &'static str {
    // SAFETY: takes nothing.
    static_text(unsafe { sys::guf_version_string() })
}

/// Finds a device of the default context, as [`Context::device`].
///
/// # Errors
/// As there.
pub fn device(spec: &str) -> Result<Device> {
    Context::default().device(spec)
}

/// Finds a ufunc of the default context, as [`Context::ufunc`].
///
/// # Errors
/// As there.
///
/// ```
/// let sqrt = gufunc::ufunc("sqrt")?;
/// assert_eq!(sqrt.call(&[1.0, 4.0, 9.0])?.to_vec::<f64>()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), gufunc::Error>(())
/// ```
pub fn ufunc(name: &str) -> Result<Ufunc> {
    Context::default().ufunc(name)
}

/// Loads a module into the default context, as [`Context::load_module`].
///
/// # Safety
/// As there.
///
/// # Errors
/// As there.
#[must_use = "its ufuncs are found as long as it is kept"]
pub unsafe fn load_module(path: impl AsRef<Path>) -> Result<Module> {
    // SAFETY: the caller's promise.
    unsafe { Context::default().load_module(path) }
}

/// Frees what dropped values left behind and runs queued release callbacks, at most
/// `max_callbacks` of them (0: all), on this thread. Gives how many ran.
///
/// # Errors
/// What the library says.
pub fn poll(max_callbacks: u32) -> Result<u32> {
    let mut ran = 0;
    // SAFETY: a place for the number.
    check(|error| unsafe { sys::guf_poll(max_callbacks, &mut ran, error) })?;
    Ok(ran)
}

/// How grave a line of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogLevel {
    /// Something failed.
    Error,
    /// Something that may be meant otherwise.
    Warning,
    /// What was decided.
    Information,
}

/// Takes the oldest line from the log of the process; the library prints nothing itself.
///
/// # Errors
/// What the library says.
pub fn log_read() -> Result<Option<(LogLevel, String)>> {
    let (mut text, mut level) = ([0; 1024], -1);
    // SAFETY: memory of the length that is said.
    check(|error| unsafe { sys::guf_log_read(text.as_mut_ptr(), text.len(), &mut level, error) })?;
    let level = match level {
        0 => LogLevel::Error,
        1 => LogLevel::Warning,
        2 => LogLevel::Information,
        _ => return Ok(None),
    };
    Ok(Some((level, text_of(&text))))
}

/// Waits for all streams, stops the library's threads, runs queued callbacks and frees caches.
/// Nothing needs it at exit. `false`: work still ran after `timeout`, the library is still usable.
///
/// # Errors
/// What the library says.
pub fn shutdown(timeout: Option<Duration>) -> Result<bool> {
    // SAFETY: takes any number.
    let status = ask(|error| unsafe { sys::guf_shutdown(nanoseconds(timeout), error) })?;
    Ok(status == Status::OK)
}

/// A limit in nanoseconds; `None` is no limit.
pub(crate) fn nanoseconds(timeout: Option<Duration>) -> u64 {
    timeout.map_or(u64::MAX, |t| u64::try_from(t.as_nanos()).unwrap_or(u64::MAX))
}
