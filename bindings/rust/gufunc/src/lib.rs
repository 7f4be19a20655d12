// SPDX-License-Identifier: Apache-2.0
//! NumPy's universal functions on every device, through libgufunc.
//!
//! A [`Ufunc`] is found by its name, or provided by a [`Module`] that gufcc compiled. Ufuncs are
//! called on slices, without copies, or on an [`Array`], which may be in the memory of a GPU.
//! Dtypes, broadcasting, casting and errors are NumPy's.
//!
//! ```
//! use gufunc::{ufunc, Array};
//!
//! let add = ufunc("add")?;
//! let mut sum = [0.0; 3];
//! add.call_into((&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]), &mut sum)?;
//! assert_eq!(sum, [11.0, 22.0, 33.0]);
//!
//! let x = Array::from_vec(vec![1.0, 2.0, 3.0, 4.0], &[2, 2])?;
//! let total = add.reduce(&x).axis(0).call()?;
//! assert_eq!(total.to_vec::<f64>()?, [4.0, 6.0]);
//! # Ok::<(), gufunc::Error>(())
//! ```
//!
//! * **Errors**: every fallible function returns a [`Result`]. An [`Error`] has a [`Status`],
//!   NumPy's text, and the operand or axis at fault. The crate does not panic, and a panic in a
//!   closure of the program becomes an error of the call.
//! * **Memory**: slices are borrowed for one call only. An [`Array`] is a reference-counted handle:
//!   clones and views share its memory, which is freed when the last of these handles is dropped.
//! * **Threads**: every type of this crate that holds a handle is `Send` and `Sync`.
//! * **Devices**: [`Context::device`] finds a device by name. A call runs on the device of its
//!   stream, of its arrays, or of [`Call::device`].
//!
//! Features: `load` opens the library at run time. `ndarray`, `ndarray_0_16`, `half` and
//! `num-complex` add the types of those crates as operands and elements.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod array;
mod call;
mod context;
mod device;
mod dlpack;
mod dtype;
mod handle;
mod host_loop;
mod keywords;
mod methods;
mod module;
mod operand;
mod operators;
mod plan;
mod scope;
mod status;
mod stream;
mod tensor;
mod typed;
mod ufunc;
#[cfg(any(feature = "ndarray", feature = "ndarray_0_16"))]
mod with_ndarray;

/// The unsafe bindings of the C interface.
pub use gufunc_sys as sys;

pub use array::{ArrayInfo, DynArray, HostMemory, Order, Slice};
pub use call::{Call, Chunks, ChunksError, FpFlags, HostPolicy, Resolution};
// All public items are re-exported, so that a new function needs no change here.
pub use context::*;
pub use device::*;
pub use dlpack::{DlpackStream, DlpackTensor};
pub use dtype::*;
pub use host_loop::{Builder, CoreSizes, Elementwise, Items, LoopArgs};
pub use methods::{Accumulate, At, Reduce};
pub use module::{
    Dim3, Kernel, KernelDeviceInfo, KernelInfo, Module, ModuleInfo, Parameter, ParameterKind,
};
pub use operand::{
    in_place, inout, scalar, view, view_mut, weak, Inputs, Operand, Output, Outputs, Weak,
};
pub use plan::Plan;
pub use scope::Scope;
pub use status::{Error, Result, Status};
pub use stream::{Event, Graph, Stream, StreamGuard};
pub use tensor::Tensor;
pub use typed::Array;
pub use ufunc::{CoreDim, FunctionFlags, Identity, Role, Ufunc, UfuncInfo};
