// SPDX-License-Identifier: Apache-2.0
//! ufunc.reduce.

use crate::array::count;
use crate::events::FpEvents;
use crate::frame::Frame;
use crate::status::check;
use crate::{
    DType, Device, DynArray, Error, Operand, Order, Output, Outputs, Resolution, Result, Status,
    Stream, Ufunc,
};
use gufunc_sys as sys;

/// Which axes are folded.
enum Axes<'a> {
    First,
    All,
    One(i64),
    Listed(&'a [i64]),
}

/// A fold along axes, with its keywords; [`Ufunc::reduce`] makes one.
///
/// ```
/// use gufunc::{scalar, ufunc, Array};
/// let x = Array::from_vec(vec![1i64, 2, 3, 4, 5, 6], &[2, 3])?;
/// let add = ufunc("add")?;
/// assert_eq!(add.reduce(&x).call()?.to_vec::<i64>()?, [5, 7, 9]);
/// assert_eq!(add.reduce(&x).axis(-1).call()?.to_vec::<i64>()?, [6, 15]);
/// assert_eq!(add.reduce(&x).all_axes().initial(scalar(100i64)).call()?.to_vec::<i64>()?, [121]);
/// # Ok::<(), gufunc::Error>(())
/// ```
#[must_use = "a reduction runs by `call`, `call_all` or `call_into`"]
pub struct Reduce<'a> {
    ufunc: &'a Ufunc,
    args: sys::guf_reduce_args,
    input: Operand<'a>,
    axes: Axes<'a>,
    initial: Option<Operand<'a>>,
    mask: Option<Operand<'a>>,
    stream: Option<&'a Stream>,
    events: Option<&'a mut FpEvents>,
}

impl Ufunc {
    /// Folds elements along axes, by default along axis 0. Of a reduction with a state
    /// ([`Ufunc::set_reduction`]) there are several results: [`Reduce::call_all`].
    pub fn reduce<'a>(&'a self, input: impl Into<Operand<'a>>) -> Reduce<'a> {
        Reduce {
            ufunc: self,
            args: sys::guf_reduce_args::new(),
            input: input.into(),
            axes: Axes::First,
            initial: None,
            mask: None,
            stream: None,
            events: None,
        }
    }
}

impl<'a> Reduce<'a> {
    /// One axis, negative from the end.
    pub fn axis(mut self, axis: i64) -> Self {
        self.axes = Axes::One(axis);
        self
    }

    /// Several axes, each once. None of them folds nothing.
    pub fn axes(mut self, axes: &'a [i64]) -> Self {
        self.axes = Axes::Listed(axes);
        self
    }

    /// All axes: NumPy's `axis=None`.
    pub fn all_axes(mut self) -> Self {
        self.axes = Axes::All;
        self
    }

    /// Folded axes stay, with extent 1.
    pub fn keepdims(mut self) -> Self {
        self.args.flags |= sys::GUF_CALL_KEEPDIMS;
        self
    }

    /// The left operand of every result: a scalar or an array of one element.
    pub fn initial(mut self, value: impl Into<Operand<'a>>) -> Self {
        self.initial = Some(value.into());
        self
    }

    /// No value to begin with, not even the identity: NumPy's `initial=None`.
    pub fn no_initial(mut self) -> Self {
        self.initial = Some(Operand::NONE);
        self
    }

    /// A mask (`bool`) that broadcasts with the input: elements that take part.
    pub fn where_(mut self, mask: impl Into<Operand<'a>>) -> Self {
        self.mask = Some(mask.into());
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

    /// As [`Call::report_events`](crate::Call::report_events), of every step of the fold.
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

    /// Runs with all arguments in place. The frame outlives `run`.
    fn run<R>(
        &mut self,
        outputs: &[Output<'_>],
        run: impl FnOnce(&mut sys::guf_reduce_args) -> Result<R>,
    ) -> Result<(R, Frame)> {
        let (mut frame, mut args) = (Frame::new(), self.args);
        args.input = frame.place(&self.input)?;
        let places = frame.outputs(outputs)?;
        match outputs.len() {
            1 => args.output = places,
            many => (args.outputs, args.noutputs) = (places, many as i32),
        }
        if let Some(initial) = &self.initial {
            args.initial = frame.place(initial)?;
        }
        if let Some(mask) = &self.mask {
            args.r#where = frame.place(mask)?;
        }
        match &self.axes {
            Axes::First => {}
            Axes::All => args.naxis = sys::GUF_ALL_AXES,
            Axes::One(axis) => (args.axis, args.naxis) = (axis, 1),
            Axes::Listed(axes) => (args.axis, args.naxis) = (axes.as_ptr(), count(axes)),
        }
        if let Some(events) = &mut self.events {
            args.fp_events = &mut events.0;
        }
        Ok((run(&mut args)?, frame))
    }

    fn launch(&mut self, outputs: &[Output<'_>]) -> Result<Vec<Option<DynArray>>> {
        let ufunc = self.ufunc.as_raw();
        let (_, frame) = self.run(outputs, |args| {
            // SAFETY: arguments whose operands are in the frame, and lent until the wait below.
            check(|error| unsafe { sys::guf_reduce(ufunc, args, error) })
        })?;
        let allocated = frame.allocated(outputs);
        let lent = self.input.lent()
            || outputs.iter().any(|output| output.0.lent())
            || self.mask.as_ref().is_some_and(Operand::lent)
            || self.events.is_some();
        match self.stream {
            Some(stream) if lent => stream.synchronize().map(|()| allocated),
            _ => Ok(allocated),
        }
    }

    /// Folds into a new array.
    ///
    /// # Errors
    /// [`Status::VALUE`] where the ufunc is no reduction's, or nothing is to be folded without an
    /// identity; [`Status::AXIS`], types and the rest of `guf_reduce`'s.
    pub fn call(&mut self) -> Result<DynArray> {
        let made = self.launch(&[Output::allocate()])?.pop().flatten();
        made.ok_or_else(|| Error::new(Status::INTERNAL, "no output was allocated"))
    }

    /// Folds into new arrays, one per result of a reduction with a state.
    ///
    /// # Errors
    /// As [`Reduce::call`].
    pub fn call_all(&mut self) -> Result<Vec<DynArray>> {
        let count = self.results()?;
        let outputs: Vec<Output<'_>> = (0..count).map(|_| Output::allocate()).collect();
        Ok(self.launch(&outputs)?.into_iter().flatten().collect())
    }

    fn results(&self) -> Result<usize> {
        Ok(self.ufunc.info()?.nresults.max(1))
    }

    /// Folds into given outputs, one per result; gives those that were [`Output::allocate`].
    ///
    /// # Errors
    /// As [`Reduce::call`]; [`Status::SHAPE`], [`Status::READ_ONLY`], [`Status::OVERLAP`].
    pub fn call_into<'o>(&mut self, outputs: impl Outputs<'o>) -> Result<Vec<Option<DynArray>>> {
        self.launch(outputs.into_outputs().as_ref())
    }

    /// What it would do, without doing it.
    ///
    /// # Errors
    /// As [`Reduce::call`]'s before it runs.
    pub fn resolve(&mut self) -> Result<Resolution> {
        let (ufunc, count) = (self.ufunc.as_raw(), self.results()?);
        let outputs: Vec<Output<'_>> = (0..count).map(|_| Output::allocate()).collect();
        let resolved = self.run(&outputs, |args| {
            // SAFETY: arguments whose operands are in the frame.
            Resolution::of(count, |out, error| unsafe {
                sys::guf_resolve_reduce(ufunc, args, out, error)
            })
        })?;
        Ok(resolved.0)
    }

    /// The same as text: the loop, its kernel, and the order in which elements are folded.
    ///
    /// # Errors
    /// As [`Reduce::resolve`].
    pub fn explain(&mut self) -> Result<String> {
        let (ufunc, count) = (self.ufunc.as_raw(), self.results()?);
        let outputs: Vec<Output<'_>> = (0..count).map(|_| Output::allocate()).collect();
        let explained = self.run(&outputs, |args| {
            crate::text::written(|text, length, error| {
                // SAFETY: arguments whose operands are in the frame, memory of that length.
                unsafe { sys::guf_explain_reduce(ufunc, args, text, length, error) }
            })
        })?;
        Ok(explained.0)
    }
}
