// SPDX-License-Identifier: Apache-2.0
//! Calls on arrays that are larger than a device's memory, or than memory.

use crate::status::check;
use crate::{Call, Error, Inputs, Outputs, Result};
use gufunc_sys as sys;
use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::ops::ControlFlow;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

type Progress<'a> = dyn FnMut(i64, i64) -> ControlFlow<()> + 'a;

/// How a call is cut.
///
/// ```
/// use gufunc::{ufunc, Chunks};
/// use std::ops::ControlFlow;
/// let (x, mut y) = (vec![4.0f64; 100_000], vec![0.0f64; 100_000]);
/// let mut chunks = 0;
/// let options = Chunks::new().chunk_bytes(1 << 16).progress(|_done, _items| {
///     chunks += 1;
///     ControlFlow::Continue(())
/// });
/// let items = ufunc("sqrt")?.with().call_chunked(&x, &mut y, options)?;
/// assert_eq!((items, chunks > 1), (100_000, true));
/// assert!(y.iter().all(|&y| y == 2.0));
/// # Ok::<(), gufunc::Error>(())
/// ```
#[derive(Default)]
pub struct Chunks<'a> {
    chunk_bytes: u64,
    depth: i32,
    first_item: i64,
    progress: Option<Box<Progress<'a>>>,
}

impl<'a> Chunks<'a> {
    /// The library's choice of everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes of the largest operand in a chunk; 0 is the library's choice, 8 MiB at most.
    pub fn chunk_bytes(mut self, bytes: u64) -> Self {
        self.chunk_bytes = bytes;
        self
    }

    /// Chunks under way at once, 1 to 16; 0 is 3.
    pub fn depth(mut self, depth: i32) -> Self {
        self.depth = depth;
        self
    }

    /// Outer items before it are neither read nor written: where a call that was stopped goes on.
    pub fn first_item(mut self, item: i64) -> Self {
        self.first_item = item;
        self
    }

    /// Called on this thread behind each chunk with how many of the outer items are in the outputs,
    /// and how many there are. `Break` ends the call with `CANCELLED`. A panic in it ends the call,
    /// too, and goes on behind it.
    pub fn progress(mut self, progress: impl FnMut(i64, i64) -> ControlFlow<()> + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }
}

/// A chunked call that failed or was stopped: how far it came, and why it ended.
#[derive(Clone, Debug)]
pub struct ChunksError {
    /// Outer items that are in the outputs: the `first_item` to go on with.
    pub items: i64,
    /// Why.
    pub error: Error,
}

impl fmt::Display for ChunksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (after {} items)", self.error, self.items)
    }
}

impl std::error::Error for ChunksError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<ChunksError> for Error {
    fn from(failed: ChunksError) -> Self {
        failed.error
    }
}

/// What the callback needs, and what it leaves behind.
struct Watch<'a> {
    progress: Box<Progress<'a>>,
    panic: Option<Box<dyn Any + Send>>,
}

unsafe extern "C" fn watch(user: *mut c_void, done: i64, items: i64) -> i32 {
    // SAFETY: the call's own watch, on the call's own thread.
    let watch = unsafe { &mut *user.cast::<Watch<'_>>() };
    match catch_unwind(AssertUnwindSafe(|| (watch.progress)(done, items))) {
        Ok(ControlFlow::Continue(())) => 0,
        Ok(ControlFlow::Break(())) => 1,
        Err(panic) => {
            watch.panic = Some(panic);
            1
        }
    }
}

impl Call<'_> {
    /// Applies the ufunc chunk by chunk of its outermost loop dimension. Operands lie in host
    /// memory and all outputs are given; complete on return. Gives how many outer items there are.
    ///
    /// # Errors
    /// Those of the call, with the number of items that are done; `CANCELLED` where `progress` said
    /// `Break`, `UNSUPPORTED` for device memory, `ARG` for a stream.
    pub fn call_chunked<'i>(
        &mut self,
        inputs: impl Inputs<'i>,
        outputs: impl Outputs<'i>,
        chunks: Chunks<'_>,
    ) -> std::result::Result<i64, ChunksError> {
        let (inputs, outputs) = (inputs.into_inputs(), outputs.into_outputs());
        let mut options = sys::guf_chunk_options::new();
        options.chunk_bytes = chunks.chunk_bytes;
        options.depth = chunks.depth;
        options.first_item = chunks.first_item;
        let mut watched = chunks.progress.map(|progress| Watch { progress, panic: None });
        if let Some(watched) = &mut watched {
            options.progress = Some(watch);
            options.user = (&raw mut *watched).cast();
        }
        let (ufunc, mut items) = (self.ufunc.as_raw(), 0);
        let done: Result<_> = self.run(inputs.as_ref(), outputs.as_ref(), |args| {
            // SAFETY: arguments whose operands are in the frame; the watch lives as long.
            check(|error| unsafe {
                sys::guf_call_chunked(ufunc, args, &options, &mut items, error)
            })
        });
        if let Some(panic) = watched.and_then(|watched| watched.panic) {
            resume_unwind(panic);
        }
        done.map(|_| items).map_err(|error| ChunksError { items, error })
    }
}
