// SPDX-License-Identifier: Apache-2.0
//! libgufunc's C interface, as Rust declares it. The crate `gufunc` is the safe layer above it.
//!
//! [`ffi`] is generated from the C headers, with the size and the place of every field asserted.
//!
//! The library is linked: from the folder `GUFUNC_LIB_DIR`, else from where pkg-config says, else
//! by plain `-lgufunc`. With the feature `load` nothing is linked; `loader` opens the library
//! when it is first used, and until then every function fails with `GUF_E_IO` and says what was not
//! found.

#![deny(unsafe_op_in_unsafe_fn)]

#[allow(clippy::all, clippy::undocumented_unsafe_blocks, missing_docs, unused_imports)]
#[rustfmt::skip]
pub mod ffi;
#[cfg(feature = "load")]
pub mod loader;

pub use ffi::*;
