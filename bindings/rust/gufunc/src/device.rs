// SPDX-License-Identifier: Apache-2.0
//! Backends, devices and their memory.

use crate::context::{c_string, nanoseconds};
use crate::status::{ask, check, text_of};
use crate::{Element, Error, Result, Status};
use gufunc_sys as sys;
use std::path::Path;
use std::time::Duration;

/// A device. Devices live as long as the process; equal values are equal devices.
///
/// The device of `"auto"` is one of its own: see [`Context::device`](crate::Context::device).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Device {
    raw: sys::guf_device,
}

// SAFETY: a handle is a value that the library looks up.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

/// What a backend is, and why it is not usable.
#[derive(Clone, Debug)]
pub struct BackendInfo {
    /// `"cpu"`, `"cuda"`, `"roc"`.
    pub name: String,
    /// Why the backend is not usable; `None` when it is.
    pub failure: Option<Error>,
    /// `None`: not probed yet.
    pub ndevices: Option<usize>,
    /// Of the plugin's ABI.
    pub abi_minor: u32,
    /// Higher is preferred by `"auto"`.
    pub priority: u32,
    /// Of the plugin.
    pub version: String,
    /// Of the vendor's driver.
    pub driver: String,
    /// Of the plugin's file; `""` for the backend inside the library.
    pub path: String,
}

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Among the backend's devices.
    pub index: usize,
    /// Compute units; threads of the cpu.
    pub units: u32,
    /// Whether the host may touch its memory.
    pub host_memory: bool,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// `"cpu"`, `"cuda"`.
    pub backend: String,
    /// As the vendor calls it.
    pub name: String,
    /// What images are chosen by: `"x86-64-v4"`, `"sm_90"`.
    pub target: String,
    /// `"cpu"`, `"cuda:0"`.
    pub spec: String,
}

/// Memory of arrays on one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceMemory {
    /// In arrays and in use by queued work.
    pub live_bytes: u64,
    /// The most there ever were of these.
    pub peak_bytes: u64,
    /// Freed, and kept for the next allocation.
    pub cached_bytes: u64,
    /// Of both together; `u64::MAX`: no limit.
    pub limit_bytes: u64,
    /// So far.
    pub allocations: u64,
    /// Those of them that reached the driver.
    pub driver_allocations: u64,
    /// Of the whole device, as its driver sees it.
    pub free_bytes: u64,
    /// Of the whole device.
    pub total_bytes: u64,
}

/// All backends that were found. With `probe` each driver is opened first, so that what is told is
/// final; without it files' notes are read only.
///
/// # Errors
/// [`Status::NO_MEMORY`]; a backend that is not usable is told, and is no error.
pub fn backends(probe: bool) -> Result<Vec<BackendInfo>> {
    let mut count = 0;
    // SAFETY: a place for the number.
    check(|error| unsafe { sys::guf_backend_count(&mut count, error) })?;
    (0..count).map(|index| backend_info(index, probe)).collect()
}

fn backend_info(index: u32, probe: bool) -> Result<BackendInfo> {
    let mut info = sys::guf_backend_info::new();
    // SAFETY: a structure of the size that it says.
    check(|error| unsafe { sys::guf_backend_get_info(index, probe.into(), &mut info, error) })?;
    let failure = || Error::new(Status(info.state), text_of(&info.reason));
    Ok(BackendInfo {
        name: text_of(&info.name),
        failure: (info.state != sys::GUF_OK).then(failure),
        ndevices: usize::try_from(info.ndevices).ok(),
        abi_minor: info.abi_minor,
        priority: info.priority,
        version: text_of(&info.version),
        driver: text_of(&info.driver),
        path: text_of(&info.path),
    })
}

/// Adds a plugin by its absolute path, beside the search path.
///
/// # Safety
/// The file's code runs in this process: it is trusted to be sound, as a library that is linked.
///
/// # Errors
/// [`Status::IO`], [`Status::BAD_FILE`], [`Status::ABI`], [`Status::UNTRUSTED`],
/// [`Status::EXISTS`].
pub unsafe fn backend_load(path: impl AsRef<Path>) -> Result<()> {
    let path = path_text(path.as_ref())?;
    // SAFETY: a terminated text; the plugin is the caller's promise.
    check(|error| unsafe { sys::guf_backend_load(path.as_ptr(), error) })
}

pub(crate) fn path_text(path: &Path) -> Result<std::ffi::CString> {
    let text = path.to_str();
    c_string(text.ok_or_else(|| Error::new(Status::ARG, format!("{path:?} is not UTF-8")))?)
}

impl Device {
    pub(crate) fn new(raw: sys::guf_device) -> Self {
        Device { raw }
    }

    /// The C handle.
    pub fn as_raw(self) -> sys::guf_device {
        self.raw
    }

    /// Of a C handle.
    ///
    /// # Safety
    /// The handle is a device's.
    pub unsafe fn from_raw(raw: sys::guf_device) -> Self {
        Device { raw }
    }

    /// Opens a device over a context of the program's own, a `CUcontext`, before anything else
    /// opens it.
    ///
    /// # Safety
    /// `native` is a living context, which lives as long as anything of the device is used.
    ///
    /// # Errors
    /// [`Status::EXISTS`] when it is open already, [`Status::HANDLE`], [`Status::UNSUPPORTED`]
    /// where the backend has no contexts.
    pub unsafe fn adopt(spec: &str, native: u64) -> Result<Self> {
        let spec = c_string(spec)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a terminated text and a place for the handle; the context is the caller's
        // promise.
        check(|error| unsafe { sys::guf_device_adopt(spec.as_ptr(), native, &mut raw, error) })?;
        Ok(Device { raw })
    }

    /// What the device is; of `"auto"`, what the chosen one is.
    ///
    /// # Errors
    /// What the library says.
    pub fn info(self) -> Result<DeviceInfo> {
        let mut info = sys::guf_device_info::new();
        // SAFETY: a structure of the size that it says.
        check(|error| unsafe { sys::guf_device_get_info(self.raw, &mut info, error) })?;
        Ok(DeviceInfo {
            index: info.index as usize,
            units: info.units,
            host_memory: info.host_memory != 0,
            memory_bytes: info.memory_bytes,
            backend: text_of(&info.backend),
            name: text_of(&info.name),
            target: text_of(&info.target),
            spec: text_of(&info.spec),
        })
    }

    /// Whether it is the device of `"auto"`, which says of the chosen one what that is.
    pub(crate) fn is_auto(self) -> Result<bool> {
        Ok(crate::device(&self.info()?.spec)? != self)
    }

    /// Waits, at most `timeout`, for the work that the device was given without a stream. `false`:
    /// it still runs. Blocks.
    ///
    /// # Errors
    /// The first failure of that work since the last report.
    pub fn synchronize(self, timeout: Option<Duration>) -> Result<bool> {
        let limit = nanoseconds(timeout);
        // SAFETY: takes any handle.
        let status = ask(|error| unsafe { sys::guf_device_synchronize(self.raw, limit, error) })?;
        Ok(status == Status::OK)
    }

    /// How much memory its arrays take.
    ///
    /// # Errors
    /// [`Status::UNSUPPORTED`] of the cpu, which keeps no pool.
    pub fn memory(self) -> Result<DeviceMemory> {
        let mut memory = sys::guf_device_memory::new();
        // SAFETY: a structure of the size that it says.
        check(|error| unsafe { sys::guf_device_get_memory(self.raw, &mut memory, error) })?;
        Ok(DeviceMemory {
            live_bytes: memory.live_bytes,
            peak_bytes: memory.peak_bytes,
            cached_bytes: memory.cached_bytes,
            limit_bytes: memory.limit_bytes,
            allocations: memory.allocations,
            driver_allocations: memory.driver_allocations,
            free_bytes: memory.free_bytes,
            total_bytes: memory.total_bytes,
        })
    }

    /// Gives cached memory back to the driver until at most `keep_bytes` are left.
    ///
    /// # Errors
    /// As [`Device::memory`], and what the driver says.
    pub fn trim_memory(self, keep_bytes: u64) -> Result<()> {
        // SAFETY: takes any handle.
        check(|error| unsafe { sys::guf_device_trim_memory(self.raw, keep_bytes, error) })
    }

    /// Allocations beyond `limit_bytes` fail with [`Status::DEVICE_MEMORY`]; `None`: no limit.
    ///
    /// # Errors
    /// As [`Device::memory`].
    pub fn limit_memory(self, limit_bytes: Option<u64>) -> Result<()> {
        let limit = limit_bytes.unwrap_or(u64::MAX);
        // SAFETY: takes any handle.
        check(|error| unsafe { sys::guf_device_limit_memory(self.raw, limit, error) })
    }

    /// Lets work of this device address the memory of `peer`, a device of the same backend.
    ///
    /// # Errors
    /// [`Status::DEVICE_MISMATCH`], [`Status::UNSUPPORTED`].
    pub fn enable_peer(self, peer: Device) -> Result<()> {
        // SAFETY: takes any handles.
        check(|error| unsafe { sys::guf_device_enable_peer(self.raw, peer.raw, error) })
    }

    /// The vendor's handle of the device's own stream, borrowed.
    ///
    /// # Errors
    /// [`Status::UNSUPPORTED`] where there is none.
    pub fn native_stream(self) -> Result<u64> {
        let mut native = 0;
        let none = std::ptr::null_mut();
        // SAFETY: a place for the number.
        check(|error| unsafe { sys::guf_stream_get_native(self.raw, none, &mut native, error) })?;
        Ok(native)
    }

    /// Page-locks a vector's memory, so that copies need no staging, until it is dropped or taken
    /// back ([`Registered::into_vec`]). It is owned meanwhile: memory that is freed while it is
    /// locked would be another's by the time the device writes it.
    ///
    /// # Errors
    /// [`Status::ARG`] for no memory, [`Status::EXISTS`] when it is locked already,
    /// [`Status::UNSUPPORTED`].
    pub fn register<T: Element>(self, mut memory: Vec<T>) -> Result<Registered<T>> {
        let (address, size) = (memory.as_mut_ptr() as u64, size_of_val(&memory[..]) as u64);
        // SAFETY: the memory is the guard's, which unregisters it.
        check(|error| unsafe { sys::guf_host_register(self.raw, address, size, error) })?;
        Ok(Registered { device: self, memory })
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let spec = self.info().map_or_else(|_| "unknown".to_string(), |info| info.spec);
        write!(f, "Device({spec})")
    }
}

/// A vector that is page-locked for a device, and is so until this is dropped. It is used as the
/// slice that it holds.
pub struct Registered<T: Element> {
    device: Device,
    memory: Vec<T>,
}

impl<T: Element> Registered<T> {
    /// The vector, which is no longer locked.
    pub fn into_vec(mut self) -> Vec<T> {
        self.unregister();
        std::mem::take(&mut self.memory)
    }

    fn unregister(&mut self) {
        let (device, address) = (self.device.raw, self.memory.as_mut_ptr() as u64);
        // SAFETY: it was registered, and is this value's.
        unsafe { sys::guf_host_unregister(device, address, std::ptr::null_mut()) };
    }
}

impl<T: Element> std::ops::Deref for Registered<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.memory
    }
}

impl<T: Element> std::ops::DerefMut for Registered<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory
    }
}

impl<T: Element> Drop for Registered<T> {
    fn drop(&mut self) {
        if !self.memory.is_empty() {
            self.unregister();
        }
    }
}
