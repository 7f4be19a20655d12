// SPDX-License-Identifier: Apache-2.0
//! What tests share.
#![allow(dead_code)]

use gufunc::Device;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

/// One test after the other: captures, limits and counts are of a device, or of the process.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The devices of `GUFUNC_TEST_DEVICES`, `cpu` where it is not set.
pub fn devices() -> Vec<Device> {
    let listed = std::env::var("GUFUNC_TEST_DEVICES").unwrap_or_else(|_| "cpu".to_string());
    listed.split(',').map(|spec| gufunc::device(spec).unwrap()).collect()
}

/// Those of them that are no cpu.
pub fn gpus() -> Vec<Device> {
    devices().into_iter().filter(|device| device.info().unwrap().backend != "cpu").collect()
}

/// A module of the examples; `None` where `GUFUNC_TEST_MODULES` names no folder of them.
pub fn module(name: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("GUFUNC_TEST_MODULES")?);
    Some(folder.join(format!("{name}.so")))
}

/// Bytes of memory that the process has in use.
pub fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}
