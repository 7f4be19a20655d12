// SPDX-License-Identifier: Apache-2.0
//! Backends, devices and their memory.

use crate::context::{c_string, nanoseconds};
use crate::status::{check, run, text_of};
use crate::{Element, Error, Result, Status};
use gufunc_sys as sys;
use std::path::Path;
use std::time::Duration;

/// A device. Devices live as long as the process. Two `Device` values are equal if they are the
/// same device.
///
/// The device `"auto"` is a separate device; see [`Context::device`](crate::Context::device).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Device {
    raw: sys::guf_device,
}

// SAFETY: a handle is a value that the library looks up.
unsafe impl Send for Device {}
// SAFETY: as for `Send`.
unsafe impl Sync for Device {}

/// Description of a backend.
#[derive(Clone, Debug)]
pub struct BackendInfo {
    /// `"cpu"`, `"cuda"`, `"roc"`.
    pub name: String,
    /// The reason why the backend is not usable; `None` if it is usable.
    pub failure: Option<Error>,
    /// `None`: not probed yet.
    pub ndevices: Option<usize>,
    /// Minor version of the plugin's ABI.
    pub abi_minor: u32,
    /// `"auto"` prefers higher values.
    pub priority: u32,
    /// Version of the plugin.
    pub version: String,
    /// Version of the vendor's driver.
    pub driver: String,
    /// Path of the plugin; `""` for the backend that is part of the library.
    pub path: String,
}

/// Description of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Index among the backend's devices.
    pub index: usize,
    /// Number of compute units; for the cpu, number of threads.
    pub units: u32,
    /// Whether the host can access the device's memory.
    pub host_memory: bool,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// `"cpu"`, `"cuda"`.
    pub backend: String,
    /// The vendor's name of the device.
    pub name: String,
    /// Target that selects images: `"x86-64-v4"`, `"sm_90"`.
    pub target: String,
    /// `"cpu"`, `"cuda:0"`.
    pub spec: String,
}

/// Memory statistics of one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceMemory {
    /// Bytes in arrays and in use by queued work.
    pub live_bytes: u64,
    /// Maximum of `live_bytes` so far.
    pub peak_bytes: u64,
    /// Bytes that were freed and are kept for the next allocation.
    pub cached_bytes: u64,
    /// Limit of live and cached bytes together; `u64::MAX`: no limit.
    pub limit_bytes: u64,
    /// Number of allocations so far.
    pub allocations: u64,
    /// Number of allocations that needed a call of the driver.
    pub driver_allocations: u64,
    /// Free bytes of the whole device, as reported by the driver.
    pub free_bytes: u64,
    /// Total bytes of the whole device.
    pub total_bytes: u64,
}

/// Returns descriptions of all available backends. With `probe` the drivers are opened first, so
/// that the result is final. Without `probe`, only the ELF notes in the plugins' files are read.
///
/// # Errors
/// [`Status::NO_MEMORY`]. An unusable backend is described in the result and is not an error.
pub fn backends(probe: bool) -> Result<Vec<BackendInfo>> {
    let mut count = 0;
    // SAFETY: the pointer to the number is valid for the call.
    check(|error| unsafe { sys::guf_backend_count(&mut count, error) })?;
    (0..count).map(|index| backend_info(index, probe)).collect()
}

fn backend_info(index: u32, probe: bool) -> Result<BackendInfo> {
    let mut info = sys::guf_backend_info::new();
    // SAFETY: `struct_size` is the size of the structure.
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

/// Loads a plugin by its absolute path, in addition to the plugins of the search path.
///
/// # Safety
/// Code of the file runs in this process. The caller guarantees that the code is sound, as for a
/// linked library.
///
/// # Errors
/// [`Status::IO`], [`Status::BAD_FILE`], [`Status::ABI`], [`Status::UNTRUSTED`],
/// [`Status::EXISTS`].
pub unsafe fn backend_load(path: impl AsRef<Path>) -> Result<()> {
    let path = path_text(path.as_ref())?;
    // SAFETY: the text is NUL-terminated, and the caller guarantees the plugin.
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

    /// Returns the C handle.
    pub fn as_raw(self) -> sys::guf_device {
        self.raw
    }

    /// Makes a device from a C handle.
    ///
    /// # Safety
    /// The handle is a device handle.
    pub unsafe fn from_raw(raw: sys::guf_device) -> Self {
        Device { raw }
    }

    /// Opens a device on a driver context of the program, a `CUcontext`. Nothing else may have
    /// opened the device before.
    ///
    /// # Safety
    /// `native` is a live context that outlives all use of the device.
    ///
    /// # Errors
    /// [`Status::EXISTS`] if the device is already open, [`Status::HANDLE`],
    /// [`Status::UNSUPPORTED`] if the backend has no contexts.
    pub unsafe fn adopt(spec: &str, native: u64) -> Result<Self> {
        let spec = c_string(spec)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the text is NUL-terminated, and the handle pointer is valid. The caller
        // guarantees the context.
        check(|error| unsafe { sys::guf_device_adopt(spec.as_ptr(), native, &mut raw, error) })?;
        Ok(Device { raw })
    }

    /// Returns a description of the device. For `"auto"` it describes the device that was chosen.
    ///
    /// # Errors
    /// Any error that the library reports.
    pub fn info(self) -> Result<DeviceInfo> {
        let mut info = sys::guf_device_info::new();
        // SAFETY: `struct_size` is the size of the structure.
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

    /// Whether this is the device of `"auto"`, whose `info` describes the chosen device.
    pub(crate) fn is_auto(self) -> Result<bool> {
        Ok(crate::device(&self.info()?.spec)? != self)
    }

    /// Waits at most `timeout` for the work on the device's default stream, which runs the calls
    /// without a stream. Returns `false` if the work is still running. Blocks.
    ///
    /// # Errors
    /// The first failure of the work since the last report.
    pub fn synchronize(self, timeout: Option<Duration>) -> Result<bool> {
        let limit = nanoseconds(timeout);
        // SAFETY: the function accepts any handle.
        let status = run(|error| unsafe { sys::guf_device_synchronize(self.raw, limit, error) })?;
        Ok(status == Status::OK)
    }

    /// Returns the memory statistics of the device.
    ///
    /// # Errors
    /// [`Status::UNSUPPORTED`] for the cpu, which has no memory pool.
    pub fn memory(self) -> Result<DeviceMemory> {
        let mut memory = sys::guf_device_memory::new();
        // SAFETY: `struct_size` is the size of the structure.
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

    /// Returns cached memory to the driver until at most `keep_bytes` are cached.
    ///
    /// # Errors
    /// As [`Device::memory`], and any error of the driver.
    pub fn trim_memory(self, keep_bytes: u64) -> Result<()> {
        // SAFETY: the function accepts any handle.
        check(|error| unsafe { sys::guf_device_trim_memory(self.raw, keep_bytes, error) })
    }

    /// Limits the memory of the device: allocations beyond `limit_bytes` fail with
    /// [`Status::DEVICE_MEMORY`]. `None` removes the limit.
    ///
    /// # Errors
    /// As [`Device::memory`].
    pub fn limit_memory(self, limit_bytes: Option<u64>) -> Result<()> {
        let limit = limit_bytes.unwrap_or(u64::MAX);
        // SAFETY: the function accepts any handle.
        check(|error| unsafe { sys::guf_device_limit_memory(self.raw, limit, error) })
    }

    /// Allows work on this device to access the memory of `peer`, a device of the same backend.
    ///
    /// # Errors
    /// [`Status::DEVICE_MISMATCH`], [`Status::UNSUPPORTED`].
    pub fn enable_peer(self, peer: Device) -> Result<()> {
        // SAFETY: the function accepts any handle.
        check(|error| unsafe { sys::guf_device_enable_peer(self.raw, peer.raw, error) })
    }

    /// Returns the vendor's handle of the device's default stream, which runs the calls without a
    /// stream. The device continues to own the vendor's stream.
    ///
    /// # Errors
    /// [`Status::UNSUPPORTED`] if the backend has no such streams (cpu).
    pub fn native_stream(self) -> Result<u64> {
        let mut native = 0;
        let none = std::ptr::null_mut();
        // SAFETY: the pointer to the number is valid for the call.
        check(|error| unsafe { sys::guf_stream_get_native(self.raw, none, &mut native, error) })?;
        Ok(native)
    }

    /// Page-locks a vector's memory, so that copies need no staging. The memory stays locked until
    /// the result is dropped or converted back to a vector ([`Registered::into_vec`]). The result
    /// owns the vector, because the device could otherwise write memory that was freed and reused.
    ///
    /// # Errors
    /// [`Status::ARG`] for an empty vector, [`Status::EXISTS`] if the memory is already locked,
    /// [`Status::UNSUPPORTED`].
    pub fn register<T: Element>(self, mut memory: Vec<T>) -> Result<Registered<T>> {
        let (address, size) = (memory.as_mut_ptr() as u64, size_of_val(&memory[..]) as u64);
        // SAFETY: the result owns the memory and unregisters it.
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

/// A vector that is page-locked for a device until it is dropped. It dereferences to the slice of
/// its elements.
pub struct Registered<T: Element> {
    device: Device,
    memory: Vec<T>,
}

impl<T: Element> Registered<T> {
    /// Unlocks and returns the vector.
    pub fn into_vec(mut self) -> Vec<T> {
        self.unregister();
        std::mem::take(&mut self.memory)
    }

    fn unregister(&mut self) {
        let (device, address) = (self.device.raw, self.memory.as_mut_ptr() as u64);
        // SAFETY: the memory was registered and belongs to this value.
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
