// SPDX-License-Identifier: Apache-2.0
//! Calls with keywords.

use crate::context::c_string;
use crate::keywords::{entries, keywords, Borrowed, Entries};
use crate::operand::Frame;
use crate::ufunc::one_output;
use crate::{
    Casting, DType, Device, DynArray, Error, Inputs, Operand, Output, Outputs, Result, Status,
    Stream, Ufunc,
};
use gufunc_sys as sys;
use std::ffi::CString;

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
