// SPDX-License-Identifier: Apache-2.0
//! Calls with keywords.

use crate::context::c_string;
use crate::frame::Frame;
use crate::keywords::{entries, keywords, Borrowed, Entries};
use crate::ufunc::one_output;
use crate::{
    Casting, DType, Device, DynArray, Error, Inputs, Operand, Output, Outputs, Result, Status,
    Stream, Ufunc,
};
use gufunc_sys as sys;
use std::ffi::CString;

pub(crate) static CALL: Entries<sys::guf_call_args> = entries!(guf_call, guf_resolve, guf_explain);
pub(crate) static OUTER: Entries<sys::guf_call_args> =
    entries!(guf_outer, guf_resolve_outer, guf_explain_outer);

/// What to do with operands in host memory when the call runs on a device that cannot read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum HostPolicy {
    /// All in host memory: copied, and outputs are allocated there. A mix is refused.
    #[default]
    Refuse = sys::GUF_HOST_DEFAULT,
    /// A mix is copied too; outputs are allocated on the device.
    Copy = sys::GUF_HOST_COPY,
    /// The same, with a line in the log.
    CopyAndWarn = sys::GUF_HOST_COPY_AND_WARN,
}

/// A call with keywords; [`Ufunc::with`] makes one. May be used for several calls.
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
    dims: Vec<(CString, i64)>,
    borrowed: Borrowed<'a>,
    failed: Option<Error>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(ufunc: &'a Ufunc) -> Self {
        Call {
            ufunc,
            args: sys::guf_call_args::new(),
            mask: None,
            axis: None,
            dims: Vec::new(),
            borrowed: Borrowed::default(),
            failed: None,
        }
    }

    keywords! {
        /// A mask (`bool`), broadcast with the loop dimensions: where false, outputs keep their
        /// values.
        where_;
        order;
        /// The type of the outputs that the loop must have.
        dtype;
        /// Reduced core dimensions stay, with extent 1.
        keepdims;
        device;
        stream;
        threads;
        report_events;
        fail_on_events;
    }

    /// Which casts the call may make.
    pub fn casting(mut self, casting: Casting) -> Self {
        self.args.casting = casting as i32;
        self
    }

    /// The types of the loop, nin + nout of them; [`DType::UNSPECIFIED`] for any.
    pub fn signature(mut self, types: &'a [DType]) -> Self {
        self.args.nsignature = crate::array::count(types);
        self.args.signature = types.as_ptr().cast();
        self
    }

    /// For each operand as many axes as it has core dimensions, one after the other.
    pub fn axes(mut self, axes: &'a [i64]) -> Self {
        self.args.naxes = crate::array::count(axes);
        self.args.axes = axes.as_ptr();
        self
    }

    /// One axis, for a signature whose only core dimension is shared.
    pub fn axis(mut self, axis: i64) -> Self {
        self.axis = Some(axis);
        self
    }

    /// The size of a core dimension that only outputs have.
    pub fn dim(mut self, name: &str, size: i64) -> Self {
        match c_string(name) {
            Ok(name) => self.dims.push((name, size)),
            Err(error) => self.failed = Some(error),
        }
        self
    }

    /// Which operands in host memory may be copied to the device and back.
    pub fn host_policy(mut self, policy: HostPolicy) -> Self {
        self.args.host_policy = policy as i32;
        self
    }

    /// The mask, where there is one.
    pub(crate) fn mask(&self) -> Option<&Operand<'a>> {
        self.mask.as_ref()
    }

    /// The stream, where there is one.
    pub(crate) fn on_stream(&self) -> Option<&'a Stream> {
        self.borrowed.stream
    }

    /// The device that the call names.
    pub(crate) fn on_device(&self) -> Option<Device> {
        (!self.args.device.is_null()).then(|| Device::new(self.args.device))
    }

    /// Runs with all arguments in place. What they point to lives until `run` returns.
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
        if let Some(axis) = &self.axis {
            args.axis = axis;
        }
        args.fp_events = self.borrowed.place_of_events();
        Ok((run(&mut args)?, frame))
    }

    /// The call itself, and the wait where something is lent to it.
    fn launch(
        &mut self,
        inputs: &[Operand<'_>],
        outputs: &[Output<'_>],
        entries: &Entries<sys::guf_call_args>,
    ) -> Result<Vec<Option<DynArray>>> {
        if outputs.is_empty() && self.ufunc.nout() > 0 {
            // The library would allocate them, behind the inputs in the frame.
            let message = format!("outputs: found none, wanted {}", self.ufunc.nout());
            return Err(Error::new(Status::ARG, message));
        }
        let ufunc = self.ufunc.as_raw();
        // SAFETY: operands of the frame, lent until `finish` has waited.
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

    /// Applies the ufunc; its one output is allocated.
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

    /// Applies the ufunc; all outputs are allocated.
    ///
    /// # Errors
    /// As [`Ufunc::call`].
    pub fn call_all<'i>(&mut self, inputs: impl Inputs<'i>) -> Result<Vec<DynArray>> {
        self.allocate(inputs.into_inputs().as_ref(), &CALL)
    }

    /// Applies the ufunc and writes the outputs; gives those that were [`Output::allocate`], each
    /// at its place.
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

    /// Applies a binary ufunc to all pairs: the result has the first input's axes, then the
    /// second's. Without `axes`, `axis` and `dim`.
    ///
    /// # Errors
    /// As [`Ufunc::call`]; [`Status::VALUE`](crate::Status::VALUE) where the ufunc is not binary.
    pub fn outer<'i>(&mut self, inputs: impl Inputs<'i>) -> Result<DynArray> {
        self.single(inputs.into_inputs().as_ref(), &OUTER)
    }

    /// The same into a given output.
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
