// SPDX-License-Identifier: Apache-2.0
//! Declarations of libgufunc's C interface. The crate `gufunc` is the safe layer on top of them.
//!
//! [`ffi`] is generated from the C headers. Assertions check the size and offset of every field.
//!
//! By default the library is linked: from the folder `GUFUNC_LIB_DIR`, else from the folder that
//! pkg-config reports, else with plain `-lgufunc`. With the feature `load` the library is not
//! linked; instead, `loader` opens it on first use. If `loader` does not find the library, every
//! function fails with `GUF_E_IO`, and the message names what was not found.

#![deny(unsafe_op_in_unsafe_fn)]

#[allow(clippy::all, clippy::undocumented_unsafe_blocks, missing_docs, unused_imports)]
#[rustfmt::skip]
pub mod ffi;
#[cfg(feature = "load")]
pub mod loader;

pub use ffi::*;
