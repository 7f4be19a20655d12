// SPDX-License-Identifier: Apache-2.0
//! Code that the tests share.
#![allow(dead_code)]

use gufunc::Device;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

/// Runs tests one after the other, because captures, limits and counts affect a device or the
/// process.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Returns the devices of `GUFUNC_TEST_DEVICES`, or `cpu` if it is not set.
pub fn devices() -> Vec<Device> {
    let listed = std::env::var("GUFUNC_TEST_DEVICES").unwrap_or_else(|_| "cpu".to_string());
    listed.split(',').map(|spec| gufunc::device(spec).unwrap()).collect()
}

/// Returns the devices of `devices` except the cpu.
pub fn gpus() -> Vec<Device> {
    devices().into_iter().filter(|device| device.info().unwrap().backend != "cpu").collect()
}

/// Returns the path of a module of the examples, or `None` if `GUFUNC_TEST_MODULES`, their folder,
/// is not set.
pub fn module(name: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("GUFUNC_TEST_MODULES")?);
    Some(folder.join(format!("{name}.so")))
}

/// Returns the resident memory of the process in bytes.
pub fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}
