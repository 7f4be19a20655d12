// SPDX-License-Identifier: Apache-2.0
//! ufunc.accumulate and ufunc.reduceat.

use crate::events::FpEvents;
use crate::frame::Frame;
use crate::status::check;
use crate::{
    DType, Device, DynArray, Error, Operand, Order, Output, Resolution, Result, Status, Stream,
    Ufunc,
};
use gufunc_sys as sys;

/// A fold along one axis that keeps what is on the way; [`Ufunc::accumulate`] and
/// [`Ufunc::reduceat`] make one.
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
    stream: Option<&'a Stream>,
    events: Option<&'a mut FpEvents>,
}

impl Ufunc {
    /// All partial results along an axis, by default axis 0.
    pub fn accumulate<'a>(&'a self, input: impl Into<Operand<'a>>) -> Accumulate<'a> {
        Accumulate {
            ufunc: self,
            args: sys::guf_accumulate_args::new(),
            input: input.into(),
            indices: None,
            stream: None,
            events: None,
        }
    }

    /// Folds the stretches of an axis that `indices` begin, a 1-d list of integers.
    pub fn reduceat<'a>(
        &'a self,
        input: impl Into<Operand<'a>>,
        indices: impl Into<Operand<'a>>,
    ) -> Accumulate<'a> {
        Accumulate { indices: Some(indices.into()), ..self.accumulate(input) }
    }
}

impl<'a> Accumulate<'a> {
    /// The axis, negative from the end.
    pub fn axis(mut self, axis: i64) -> Self {
        self.args.axis = axis;
        self
    }

    /// The type of the loop.
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.args.dtype = dtype.0;
        self
    }

    /// The layout of an allocated output.
    pub fn order(mut self, order: Order) -> Self {
        self.args.order = order as i32;
        self
    }

    /// Where it runs; by default where the input lies.
    pub fn device(mut self, device: Device) -> Self {
        self.args.device = device.as_raw();
        self
    }

    /// Queues it. Where a slice is lent, or a place for events given, it waits for the stream.
    pub fn stream(mut self, stream: &'a Stream) -> Self {
        self.stream = Some(stream);
        self.args.stream = stream.as_raw();
        self
    }

    /// At most so many threads of the cpu; 0 is the library's choice.
    pub fn threads(mut self, threads: u32) -> Self {
        self.args.threads = threads;
        self
    }

    /// As [`Call::report_events`](crate::Call::report_events), of every step.
    pub fn report_events(mut self, report: FpEvents, found: &'a mut FpEvents) -> Self {
        self.args.fp_report = report.0;
        self.events = Some(found);
        self
    }

    /// As [`Call::fail_on_events`](crate::Call::fail_on_events).
    pub fn fail_on_events(mut self, events: FpEvents) -> Self {
        self.args.fp_fail = events.0;
        self
    }

    /// Runs with all arguments in place; `run` is told whether there are indices.
    fn run<R>(
        &mut self,
        output: Output<'_>,
        run: impl FnOnce(&mut sys::guf_accumulate_args, bool) -> Result<R>,
    ) -> Result<(R, Option<DynArray>)> {
        let (mut frame, mut args) = (Frame::new(), self.args);
        let lent = self.input.lent()
            || output.0.lent()
            || self.indices.as_ref().is_some_and(Operand::lent)
            || self.events.is_some();
        let outputs = [output];
        args.input = frame.place(&self.input)?;
        args.output = frame.outputs(&outputs)?;
        if let Some(indices) = &self.indices {
            args.indices = frame.place(indices)?;
        }
        if let Some(events) = &mut self.events {
            args.fp_events = &mut events.0;
        }
        let done = run(&mut args, self.indices.is_some())?;
        let made = frame.allocated(&outputs).pop().flatten();
        if let (Some(stream), true) = (self.stream, lent) {
            stream.synchronize()?;
        }
        Ok((done, made))
    }

    fn launch(&mut self, output: Output<'_>) -> Result<Option<DynArray>> {
        let ufunc = self.ufunc.as_raw();
        let done = self.run(output, |args, indexed| {
            // SAFETY: arguments whose operands are in the frame, and lent until the wait.
            check(|error| unsafe {
                match indexed {
                    true => sys::guf_reduceat(ufunc, args, error),
                    false => sys::guf_accumulate(ufunc, args, error),
                }
            })
        })?;
        Ok(done.1)
    }

    /// Into a new array.
    ///
    /// # Errors
    /// As [`Reduce::call`](crate::Reduce::call); [`Status::INDEX`] for an index out of range.
    pub fn call(&mut self) -> Result<DynArray> {
        let made = self.launch(Output::allocate())?;
        made.ok_or_else(|| Error::new(Status::INTERNAL, "no output was allocated"))
    }

    /// Into an array or slice of the result's shape.
    ///
    /// # Errors
    /// As [`Accumulate::call`]; [`Status::SHAPE`], [`Status::READ_ONLY`], [`Status::OVERLAP`].
    pub fn call_into<'o>(&mut self, output: impl Into<Output<'o>>) -> Result<()> {
        self.launch(output.into()).map(|_| ())
    }

    /// What it would do, without doing it.
    ///
    /// # Errors
    /// As [`Accumulate::call`]'s before it runs.
    pub fn resolve(&mut self) -> Result<Resolution> {
        let ufunc = self.ufunc.as_raw();
        let resolved = self.run(Output::allocate(), |args, indexed| {
            // SAFETY: arguments whose operands are in the frame.
            Resolution::of(1, |out, error| unsafe {
                match indexed {
                    true => sys::guf_resolve_reduceat(ufunc, args, out, error),
                    false => sys::guf_resolve_accumulate(ufunc, args, out, error),
                }
            })
        })?;
        Ok(resolved.0)
    }

    /// The same as text.
    ///
    /// # Errors
    /// As [`Accumulate::resolve`].
    pub fn explain(&mut self) -> Result<String> {
        let ufunc = self.ufunc.as_raw();
        let explained = self.run(Output::allocate(), |args, indexed| {
            // SAFETY: arguments whose operands are in the frame, memory of that length.
            crate::text::written(|text, length, error| unsafe {
                match indexed {
                    true => sys::guf_explain_reduceat(ufunc, args, text, length, error),
                    false => sys::guf_explain_accumulate(ufunc, args, text, length, error),
                }
            })
        })?;
        Ok(explained.0)
    }
}
