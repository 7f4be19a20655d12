// SPDX-License-Identifier: Apache-2.0
//! Calls with keywords: floating-point flags, descriptions of what a call would do, and calls in
//! chunks.

use crate::context::c_string;
use crate::keywords::{entries, keywords, Borrowed, Entries};
use crate::operand::Frame;
use crate::status::check;
use crate::ufunc::one_output;
use crate::{
    Casting, DType, Device, DynArray, Error, Inputs, Operand, Output, Outputs, Result, Status,
    Stream, Ufunc,
};
use gufunc_sys as sys;
use std::any::Any;
use std::ffi::{c_void, CString};
use std::fmt;
use std::ops::{BitOr, BitOrAssign, ControlFlow};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

/// A set of floating-point flags, combined with `|`, as in NumPy's errstate. The flags depend only
/// on the values of operands and results, and are the same on every device.
///
/// ```
/// use gufunc::{ufunc, FpFlags};
/// let mut found = FpFlags::NONE;
/// ufunc("divide")?.with().report_fp_flags(FpFlags::ALL, &mut found).call((&[1.0], &[0.0]))?;
/// assert_eq!(found, FpFlags::DIVIDE);
/// # Ok::<(), gufunc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct FpFlags(pub u32);

impl FpFlags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// An infinite result of finite operands at a pole: 1/0, log(0).
    pub const DIVIDE: Self = Self(sys::GUF_FP_DIVIDE);
    /// Any other infinite result of finite operands.
    pub const OVERFLOW: Self = Self(sys::GUF_FP_OVERFLOW);
    /// A result below the smallest normal number, from nonzero operands.
    pub const UNDERFLOW: Self = Self(sys::GUF_FP_UNDERFLOW);
    /// A NaN result of operands that are not NaN: 0/0, sqrt(-1).
    pub const INVALID: Self = Self(sys::GUF_FP_INVALID);
    /// Division of an integer by zero.
    pub const INTEGER_DIVIDE: Self = Self(sys::GUF_FP_INTEGER_DIVIDE);
    /// All flags.
    pub const ALL: Self = Self(31);

    /// Whether all flags of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for FpFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for FpFlags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

pub(crate) static CALL: Entries<sys::guf_call_args> = entries!(guf_call, GUF_OPERATION_CALL, call);
pub(crate) static OUTER: Entries<sys::guf_call_args> =
    entries!(guf_outer, GUF_OPERATION_OUTER, call);

/// Selects whether operands in host memory are copied when a call runs on a device that cannot
/// access host memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum HostPolicy {
    /// If all operands are in host memory, they are copied, and outputs are allocated in host
    /// memory. A mix of host and device memory is rejected.
    #[default]
    Refuse = sys::GUF_HOST_DEFAULT,
    /// In a mix of host and device memory, the operands in host memory are copied. Outputs are
    /// allocated on the device.
    Copy = sys::GUF_HOST_COPY,
    /// Like `Copy`, and a warning is logged.
    CopyAndWarn = sys::GUF_HOST_COPY_AND_WARN,
}

/// A call with keywords, made by [`Ufunc::with`]. The same value may run several calls.
///
/// ```
/// use gufunc::{ufunc, Casting, DType};
/// let divide = ufunc("divide")?;
/// let mut quotient = [9.0, 9.0, 9.0];
/// divide
///     .with()
///     .where_(&[true, false, true])
///     .call_into((&[1.0, 2.0, 3.0], &[2.0, 0.0, 2.0]), &mut quotient)?;
/// assert_eq!(quotient, [0.5, 9.0, 1.5]);
///
/// let add = ufunc("add")?;
/// let sum = add.with().dtype(DType::F32).call((&[1.5f64], &[1.0f64]));
/// assert!(sum.is_ok());
/// # Ok::<(), gufunc::Error>(())
/// ```
#[must_use = "a call runs by `call`, `call_all` or `call_into`"]
pub struct Call<'a> {
    pub(crate) ufunc: &'a Ufunc,
    args: sys::guf_call_args,
    mask: Option<Operand<'a>>,
    axis: Option<i64>,
    axes: Option<&'a [&'a [i64]]>,
    dims: Vec<(CString, i64)>,
    borrowed: Borrowed<'a>,
    failed: Option<Error>,
}

/// Converts the axes of one operand to the C structure.
fn core_axes(axes: &[i64]) -> sys::guf_core_axes {
    sys::guf_core_axes { axis: axes.as_ptr(), naxis: crate::array::count(axes), reserved: 0 }
}

impl<'a> Call<'a> {
    pub(crate) fn new(ufunc: &'a Ufunc) -> Self {
        Call {
            ufunc,
            args: sys::guf_call_args::new(),
            mask: None,
            axis: None,
            axes: None,
            dims: Vec::new(),
            borrowed: Borrowed::default(),
            failed: None,
        }
    }

    keywords! {
        /// Sets a mask (`bool`), broadcast with the loop dimensions. Where the mask is false,
        /// outputs keep their values.
        where_;
        order;
        /// Sets the required output dtype of the loop.
        dtype;
        /// Keeps reduced core dimensions, with extent 1.
        keepdims;
        device;
        stream;
        threads;
        report_fp_flags;
        fail_on_fp_flags;
    }

    /// Sets the casting level of the call.
    pub fn casting(mut self, casting: Casting) -> Self {
        self.args.casting = casting as i32;
        self
    }

    /// Sets the dtypes of the loop: one per input and output. [`DType::UNSPECIFIED`] allows any
    /// dtype.
    pub fn signature(mut self, types: &'a [DType]) -> Self {
        self.args.nsignature = crate::array::count(types);
        self.args.signature = types.as_ptr().cast();
        self
    }

    /// Sets the axes of the core dimensions of each operand, inputs first. The lists of outputs may
    /// be omitted if the signature has no core dimensions in outputs.
    ///
    /// ```
    /// use gufunc::{ufunc, view};
    /// let x = [1.0, 2.0, 3.0, 4.0];
    /// let (x, vecdot) = (view(&x, &[2, 2])?, ufunc("vecdot")?);
    /// let columns = vecdot.with().axes(&[&[0], &[0]]).call((x, &[1.0, 10.0]))?;
    /// assert_eq!(columns.to_vec::<f64>()?, [31.0, 42.0]);
    /// # Ok::<(), gufunc::Error>(())
    /// ```
    pub fn axes(mut self, axes: &'a [&'a [i64]]) -> Self {
        self.axes = Some(axes);
        self
    }

    /// Sets one axis, for a signature with a single, shared core dimension.
    pub fn axis(mut self, axis: i64) -> Self {
        self.axis = Some(axis);
        self
    }

    /// Sets the size of a core dimension that only outputs have.
    pub fn dim(mut self, name: &str, size: i64) -> Self {
        match c_string(name) {
            Ok(name) => self.dims.push((name, size)),
            Err(error) => self.failed = Some(error),
        }
        self
    }

    /// Selects which operands in host memory may be copied to the device and back.
    pub fn host_policy(mut self, policy: HostPolicy) -> Self {
        self.args.host_policy = policy as i32;
        self
    }

    /// Returns the mask of the call, if it has one.
    pub(crate) fn mask(&self) -> Option<&Operand<'a>> {
        self.mask.as_ref()
    }

    /// Returns the stream of the call, if it has one.
    pub(crate) fn on_stream(&self) -> Option<&'a Stream> {
        self.borrowed.stream
    }

    /// Returns the device that was set for the call.
    pub(crate) fn on_device(&self) -> Option<Device> {
        (!self.args.options.device.is_null()).then(|| Device::new(self.args.options.device))
    }

    /// Calls `run` with all arguments filled in. The arguments are valid until `run` returns.
    pub(crate) fn run<R>(
        &mut self,
        inputs: &[Operand<'_>],
        outputs: &[Output<'_>],
        run: impl FnOnce(&mut sys::guf_call_args) -> Result<R>,
    ) -> Result<(R, Frame)> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let (mut frame, mut args) = (Frame::new(), self.args);
        frame.fill(&mut args, inputs, outputs)?;
        if let Some(mask) = &self.mask {
            args.r#where = frame.place(mask)?;
        }
        let dims: Vec<sys::guf_dim> = self
            .dims
            .iter()
            .map(|(name, size)| sys::guf_dim { name: name.as_ptr(), size: *size })
            .collect();
        (args.dims, args.ndims) = (dims.as_ptr(), dims.len() as i32);
        let axes: Option<Vec<sys::guf_core_axes>> =
            self.axes.map(|lists| lists.iter().copied().map(core_axes).collect());
        if let Some(axes) = &axes {
            (args.axes, args.naxes) = (axes.as_ptr(), crate::array::count(axes));
        }
        if let Some(axis) = &self.axis {
            args.axis = axis;
        }
        args.options.fp_flags = self.borrowed.fp_flags_pointer();
        Ok((run(&mut args)?, frame))
    }

    /// Makes the call, and waits for it if the call borrows memory of the program.
    fn launch(
        &mut self,
        inputs: &[Operand<'_>],
        outputs: &[Output<'_>],
        entries: &Entries<sys::guf_call_args>,
    ) -> Result<Vec<Option<DynArray>>> {
        if outputs.is_empty() && self.ufunc.nout() > 0 {
            // The library would store the outputs that it allocates in operands that the frame does
            // not have.
            let message = format!("outputs: expected {}, got none", self.ufunc.nout());
            return Err(Error::new(Status::ARG, message));
        }
        let ufunc = self.ufunc.as_raw();
        // SAFETY: the operands are in the frame, which is alive until `finish` has waited.
        let call = |args: &mut _| Ok(unsafe { entries.call(ufunc, args) });
        let (done, frame) = self.run(inputs, outputs, call)?;
        self.borrowed.finish(done, &frame, outputs)
    }

    fn allocate(
        &mut self,
        inputs: &[Operand<'_>],
        entries: &Entries<sys::guf_call_args>,
    ) -> Result<Vec<DynArray>> {
        let outputs: Vec<Output<'_>> = (0..self.ufunc.nout()).map(|_| Output::allocate()).collect();
        Ok(self.launch(inputs, &outputs, entries)?.into_iter().flatten().collect())
    }

    /// Applies the ufunc and allocates its single output.
    ///
    /// # Errors
    /// As [`Ufunc::call`].
    pub fn call<'i>(&mut self, inputs: impl Inputs<'i>) -> Result<DynArray> {
        self.call_lists(inputs.into_inputs().as_ref())
    }

    fn single(
        &mut self,
        inputs: &[Operand<'_>],
        entries: &Entries<sys::guf_call_args>,
    ) -> Result<DynArray> {
        if self.ufunc.nout() != 1 {
            return Err(one_output(self.ufunc.nout()));
        }
        let mut outputs = self.allocate(inputs, entries)?;
        outputs.pop().ok_or_else(|| one_output(0))
    }

    /// Applies the ufunc and allocates all outputs.
    ///
    /// # Errors
    /// As [`Ufunc::call`].
    pub fn call_all<'i>(&mut self, inputs: impl Inputs<'i>) -> Result<Vec<DynArray>> {
        self.allocate(inputs.into_inputs().as_ref(), &CALL)
    }

    /// Applies the ufunc and writes the outputs. Returns one entry per output: the allocated array
    /// for [`Output::allocate`], otherwise `None`.
    ///
    /// # Errors
    /// As [`Ufunc::call_into`].
    pub fn call_into<'i>(
        &mut self,
        inputs: impl Inputs<'i>,
        outputs: impl Outputs<'i>,
    ) -> Result<Vec<Option<DynArray>>> {
        let (inputs, outputs) = (inputs.into_inputs(), outputs.into_outputs());
        self.call_into_lists(inputs.as_ref(), outputs.as_ref())
    }

    pub(crate) fn call_lists(&mut self, inputs: &[Operand<'_>]) -> Result<DynArray> {
        self.single(inputs, &CALL)
    }

    pub(crate) fn call_into_lists(
        &mut self,
        inputs: &[Operand<'_>],
        outputs: &[Output<'_>],
    ) -> Result<Vec<Option<DynArray>>> {
        self.launch(inputs, outputs, &CALL)
    }

    /// Applies a binary ufunc to all pairs of elements. The result has the axes of the first input,
    /// then the axes of the second. `axes`, `axis` and `dim` must not be set.
    ///
    /// # Errors
    /// As [`Ufunc::call`]; [`Status::VALUE`](crate::Status::VALUE) if the ufunc is not binary.
    pub fn outer<'i>(&mut self, inputs: impl Inputs<'i>) -> Result<DynArray> {
        self.single(inputs.into_inputs().as_ref(), &OUTER)
    }

    /// Like [`Call::outer`], but writes the result to an existing output.
    ///
    /// # Errors
    /// As [`Call::outer`] and [`Ufunc::call_into`].
    pub fn outer_into<'i>(
        &mut self,
        inputs: impl Inputs<'i>,
        outputs: impl Outputs<'i>,
    ) -> Result<Vec<Option<DynArray>>> {
        let (inputs, outputs) = (inputs.into_inputs(), outputs.into_outputs());
        self.launch(inputs.as_ref(), outputs.as_ref(), &OUTER)
    }
}

/// What a call or method would do: the dtypes of the loop and of each operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// Index for [`Ufunc::loop_types`](crate::Ufunc::loop_types).
    pub loop_index: u32,
    /// Dtypes in which the loop computes.
    pub loop_dtypes: Vec<DType>,
    /// Dtypes of the operands, including outputs to allocate.
    pub dtypes: Vec<DType>,
    /// One shape per output.
    pub output_shapes: Vec<Vec<i64>>,
}

impl Resolution {
    /// Makes the resolution of a call with `outputs` outputs. `resolve` calls guf_resolve or a
    /// similar C function, which fills the C structure.
    pub(crate) fn of(
        outputs: usize,
        resolve: impl FnOnce(*mut sys::guf_resolution, *mut sys::guf_error) -> sys::guf_status,
    ) -> Result<Self> {
        // The structure has 16 KiB, which is too much for the stack.
        let mut out = Box::new(sys::guf_resolution::new());
        check(|error| resolve(&mut *out, error))?;
        let count = out.noperands as usize;
        let types = |list: &[u32]| list.iter().take(count).map(|&t| DType(t)).collect();
        let shape = |i: usize| out.output_shapes[i][..out.output_ndims[i] as usize].to_vec();
        Ok(Resolution {
            loop_index: out.r#loop,
            loop_dtypes: types(&out.loop_dtypes),
            dtypes: types(&out.dtypes),
            output_shapes: (0..outputs).map(shape).collect(),
        })
    }
}

impl Call<'_> {
    fn resolution(
        &mut self,
        inputs: &[Operand<'_>],
        outputs: &[Output<'_>],
        entries: &Entries<sys::guf_call_args>,
    ) -> Result<Resolution> {
        let (ufunc, nout) = (self.ufunc.as_raw(), self.ufunc.nout());
        // SAFETY: the operands are in the frame, which outlives the call.
        let resolve = |args: &mut _| unsafe { entries.resolve(ufunc, args, nout) };
        Ok(self.run(inputs, outputs, resolve)?.0)
    }

    fn explanation(
        &mut self,
        inputs: &[Operand<'_>],
        outputs: &[Output<'_>],
        entries: &Entries<sys::guf_call_args>,
    ) -> Result<String> {
        let ufunc = self.ufunc.as_raw();
        // SAFETY: the operands are in the frame, which outlives the call.
        let explain = |args: &mut _| unsafe { entries.explain(ufunc, args) };
        Ok(self.run(inputs, outputs, explain)?.0)
    }

    /// Returns what the call would do, without running it. Pass `()` for outputs to allocate.
    ///
    /// # Errors
    /// The errors of the call that occur before the work starts.
    pub fn resolve<'i>(
        &mut self,
        inputs: impl Inputs<'i>,
        outputs: impl Outputs<'i>,
    ) -> Result<Resolution> {
        let (inputs, outputs) = (inputs.into_inputs(), outputs.into_outputs());
        self.resolution(inputs.as_ref(), outputs.as_ref(), &CALL)
    }

    /// Returns what the call would do, as text: the loop, its kernel, casts, and the device.
    ///
    /// # Errors
    /// The errors of the call that occur before the work starts.
    pub fn explain<'i>(
        &mut self,
        inputs: impl Inputs<'i>,
        outputs: impl Outputs<'i>,
    ) -> Result<String> {
        let (inputs, outputs) = (inputs.into_inputs(), outputs.into_outputs());
        self.explanation(inputs.as_ref(), outputs.as_ref(), &CALL)
    }

    /// Returns what [`Call::outer`] would do, without running it.
    ///
    /// # Errors
    /// The errors of [`Call::outer`] that occur before the work starts.
    pub fn resolve_outer<'i>(&mut self, inputs: impl Inputs<'i>) -> Result<Resolution> {
        self.resolution(inputs.into_inputs().as_ref(), &[], &OUTER)
    }

    /// Returns what [`Call::outer`] would do, as text.
    ///
    /// # Errors
    /// The errors of [`Call::outer`] that occur before the work starts.
    pub fn explain_outer<'i>(&mut self, inputs: impl Inputs<'i>) -> Result<String> {
        self.explanation(inputs.into_inputs().as_ref(), &[], &OUTER)
    }
}

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
