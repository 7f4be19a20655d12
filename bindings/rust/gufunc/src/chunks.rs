// SPDX-License-Identifier: Apache-2.0
//! Calls in chunks, for arrays that are larger than the memory of a device or of the host.

use crate::status::check;
use crate::{Call, Error, Inputs, Outputs, Result};
use gufunc_sys as sys;
use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::ops::ControlFlow;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

type Progress<'a> = dyn FnMut(i64, i64) -> ControlFlow<()> + 'a;

/// Options for how a call is divided into chunks.
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
    /// Leaves all choices to the library.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the bytes of the largest operand in a chunk. 0 leaves the choice to the library, at
    /// most 8 MiB.
    pub fn chunk_bytes(mut self, bytes: u64) -> Self {
        self.chunk_bytes = bytes;
        self
    }

    /// Sets the number of chunks that are in progress at the same time, 1 to 16. 0 means 3.
    pub fn depth(mut self, depth: i32) -> Self {
        self.depth = depth;
        self
    }

    /// Sets the number of outer items to skip, which are neither read nor written. Use this to
    /// resume a stopped call.
    pub fn first_item(mut self, item: i64) -> Self {
        self.first_item = item;
        self
    }

    /// Sets a function that is called on the calling thread after each chunk. Its arguments are the
    /// number of outer items whose results are in the outputs, and the total number of outer items.
    /// If the function returns `Break`, the call stops with `CANCELLED`. If the function panics,
    /// the call stops and the panic continues.
    pub fn progress(mut self, progress: impl FnMut(i64, i64) -> ControlFlow<()> + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }
}

/// Error of a chunked call that failed or was stopped.
#[derive(Clone, Debug)]
pub struct ChunksError {
    /// Number of outer items whose results are in the outputs. To resume the call, pass this number
    /// to [`Chunks::first_item`].
    pub items: i64,
    /// The error that stopped the call.
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

/// State of the callback during a call.
struct Watch<'a> {
    progress: Box<Progress<'a>>,
    panic: Option<Box<dyn Any + Send>>,
}

unsafe extern "C" fn watch(user: *mut c_void, done: i64, items: i64) -> i32 {
    // SAFETY: `user` is the watch of this call, which runs on the calling thread.
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
    /// Applies the ufunc in chunks along its outermost loop dimension; an outer item is one index
    /// of this dimension. Operands must be in host memory, and all outputs must be given. The call
    /// is complete on return. Returns the number of outer items.
    ///
    /// # Errors
    /// The errors of the call, with the number of completed outer items; `CANCELLED` if `progress`
    /// returned `Break`, `UNSUPPORTED` for device memory, `ARG` for a stream.
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
            // SAFETY: the operands are in the frame. The frame and the watch outlive the call.
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
