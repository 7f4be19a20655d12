// SPDX-License-Identifier: Apache-2.0
//! The methods `ufunc.accumulate` and `ufunc.reduceat`.

use crate::frame::Frame;
use crate::keywords::{entries, keywords, Borrowed, Entries};
use crate::{DynArray, Error, Operand, Output, Resolution, Result, Status, Ufunc};
use gufunc_sys as sys;

static ACCUMULATE: Entries<sys::guf_accumulate_args> =
    entries!(guf_accumulate, GUF_OPERATION_ACCUMULATE, accumulate);
static REDUCEAT: Entries<sys::guf_accumulate_args> =
    entries!(guf_reduceat, GUF_OPERATION_REDUCEAT, accumulate);

/// A prepared [`Ufunc::accumulate`] or [`Ufunc::reduceat`]: a reduction along one axis with several
/// results.
///
/// ```
/// use gufunc::ufunc;
/// let add = ufunc("add")?;
/// let x = [1.0, 2.0, 3.0, 4.0];
/// assert_eq!(add.accumulate(&x).call()?.to_vec::<f64>()?, [1.0, 3.0, 6.0, 10.0]);
/// assert_eq!(add.reduceat(&x, &[0i64, 2]).call()?.to_vec::<f64>()?, [3.0, 7.0]);
/// # Ok::<(), gufunc::Error>(())
/// ```
#[must_use = "it runs by `call` or `call_into`"]
pub struct Accumulate<'a> {
    ufunc: &'a Ufunc,
    args: sys::guf_accumulate_args,
    input: Operand<'a>,
    indices: Option<Operand<'a>>,
    borrowed: Borrowed<'a>,
}

impl Ufunc {
    /// Prepares the computation of all partial results along an axis, by default axis 0.
    pub fn accumulate<'a>(&'a self, input: impl Into<Operand<'a>>) -> Accumulate<'a> {
        Accumulate {
            ufunc: self,
            args: sys::guf_accumulate_args::new(),
            input: input.into(),
            indices: None,
            borrowed: Borrowed::default(),
        }
    }

    /// Prepares the reduction of the slices of an axis that begin at `indices`, a one-dimensional
    /// list of integers.
    pub fn reduceat<'a>(
        &'a self,
        input: impl Into<Operand<'a>>,
        indices: impl Into<Operand<'a>>,
    ) -> Accumulate<'a> {
        Accumulate { indices: Some(indices.into()), ..self.accumulate(input) }
    }
}

impl<'a> Accumulate<'a> {
    /// Sets the axis; negative values count from the last axis.
    pub fn axis(mut self, axis: i64) -> Self {
        self.args.axis = axis;
        self
    }

    keywords! {
        /// Sets the dtype of the loop.
        dtype;
        order;
        device;
        stream;
        threads;
        /// The flags of every step are reported.
        report_fp_flags;
        fail_on_fp_flags;
    }

    fn entries(&self) -> &'static Entries<sys::guf_accumulate_args> {
        match self.indices {
            Some(_) => &REDUCEAT,
            None => &ACCUMULATE,
        }
    }

    /// Calls `run` with all arguments filled in.
    fn run<R>(
        &mut self,
        outputs: &[Output<'_>],
        run: impl FnOnce(&mut sys::guf_accumulate_args) -> Result<R>,
    ) -> Result<(R, Frame)> {
        let (mut frame, mut args) = (Frame::new(), self.args);
        args.input = frame.place(&self.input)?;
        args.output = frame.outputs(outputs)?;
        if let Some(indices) = &self.indices {
            args.indices = frame.place(indices)?;
        }
        args.options.fp_flags = self.borrowed.fp_flags_pointer();
        Ok((run(&mut args)?, frame))
    }

    fn launch(&mut self, output: Output<'_>) -> Result<Option<DynArray>> {
        let (ufunc, entries, outputs) = (self.ufunc.as_raw(), self.entries(), [output]);
        // SAFETY: the operands are in the frame, which is alive until `finish` has waited.
        let call = |args: &mut _| Ok(unsafe { entries.call(ufunc, args) });
        let (done, frame) = self.run(&outputs, call)?;
        Ok(self.borrowed.finish(done, &frame, &outputs)?.pop().flatten())
    }

    /// Returns the result as a new array.
    ///
    /// # Errors
    /// As [`Reduce::call`](crate::Reduce::call); [`Status::INDEX`] if an index is out of range.
    pub fn call(&mut self) -> Result<DynArray> {
        let made = self.launch(Output::allocate())?;
        made.ok_or_else(|| Error::new(Status::INTERNAL, "no output was allocated"))
    }

    /// Writes the result to an array or slice of the result's shape.
    ///
    /// # Errors
    /// As [`Accumulate::call`]; [`Status::SHAPE`], [`Status::READ_ONLY`], [`Status::OVERLAP`].
    pub fn call_into<'o>(&mut self, output: impl Into<Output<'o>>) -> Result<()> {
        self.launch(output.into()).map(|_| ())
    }

    /// Returns what the call would do, without running it.
    ///
    /// # Errors
    /// The errors of [`Accumulate::call`] that occur before the work starts.
    pub fn resolve(&mut self) -> Result<Resolution> {
        let (ufunc, entries) = (self.ufunc.as_raw(), self.entries());
        // SAFETY: the operands are in the frame, which outlives the call.
        let resolve = |args: &mut _| unsafe { entries.resolve(ufunc, args, 1) };
        Ok(self.run(&[Output::allocate()], resolve)?.0)
    }

    /// Returns what the call would do, as text.
    ///
    /// # Errors
    /// As [`Accumulate::resolve`].
    pub fn explain(&mut self) -> Result<String> {
        let (ufunc, entries) = (self.ufunc.as_raw(), self.entries());
        // SAFETY: the operands are in the frame, which outlives the call.
        let explain = |args: &mut _| unsafe { entries.explain(ufunc, args) };
        Ok(self.run(&[Output::allocate()], explain)?.0)
    }
}
