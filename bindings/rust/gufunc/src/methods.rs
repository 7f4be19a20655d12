// SPDX-License-Identifier: Apache-2.0
//! The methods `ufunc.reduce`, `ufunc.accumulate`, `ufunc.reduceat` and `ufunc.at`.

use crate::array::count;
use crate::keywords::{entries, keywords, Borrowed, Entries};
use crate::operand::Frame;
use crate::{DynArray, Error, Inputs, Operand, Output, Outputs, Resolution, Result, Status, Ufunc};
use gufunc_sys as sys;

static REDUCE: Entries<sys::guf_reduce_args> = entries!(guf_reduce, GUF_OPERATION_REDUCE, reduce);

/// The axes to reduce.
enum Axes<'a> {
    First,
    All,
    One(i64),
    Listed(&'a [i64]),
}

/// A prepared [`Ufunc::reduce`]: a reduction along axes, with its keywords.
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
    parameters: Vec<Operand<'a>>,
    borrowed: Borrowed<'a>,
}

impl Ufunc {
    /// Prepares a reduction of the elements along axes, by default along axis 0. A reduction with a
    /// user-defined accumulator ([`Ufunc::set_reduction`]) may have several results; use
    /// [`Reduce::call_all`] for such a reduction.
    pub fn reduce<'a>(&'a self, input: impl Into<Operand<'a>>) -> Reduce<'a> {
        Reduce {
            ufunc: self,
            args: sys::guf_reduce_args::new(),
            input: input.into(),
            axes: Axes::First,
            initial: None,
            mask: None,
            parameters: Vec::new(),
            borrowed: Borrowed::default(),
        }
    }
}

impl<'a> Reduce<'a> {
    /// Sets a single axis; negative values count from the last axis.
    pub fn axis(mut self, axis: i64) -> Self {
        self.axes = Axes::One(axis);
        self
    }

    /// Sets several distinct axes. An empty list reduces nothing.
    pub fn axes(mut self, axes: &'a [i64]) -> Self {
        self.axes = Axes::Listed(axes);
        self
    }

    /// Reduces all axes, like NumPy's `axis=None`.
    pub fn all_axes(mut self) -> Self {
        self.axes = Axes::All;
        self
    }

    /// Sets the initial value of every result: a scalar or an array of one element.
    pub fn initial(mut self, value: impl Into<Operand<'a>>) -> Self {
        self.initial = Some(value.into());
        self
    }

    /// Uses no initial value, not even the identity, like NumPy's `initial=None`.
    pub fn no_initial(mut self) -> Self {
        self.initial = Some(Operand::NONE);
        self
    }

    /// Sets the parameters of a reduction with a user-defined accumulator, such as `ddof` of `var`:
    /// scalars. Parameters that are left out are 0.
    ///
    /// ```
    /// use gufunc::{scalar, ufunc, Array};
    /// let x = Array::from_vec(vec![1.0, 2.0, 6.0], &[3])?;
    /// let var = ufunc("var")?.reduce(&x).parameters([scalar(1i64)]).call()?;
    /// assert_eq!(var.to_vec::<f64>()?, [7.0]);
    /// # Ok::<(), gufunc::Error>(())
    /// ```
    pub fn parameters(mut self, values: impl IntoIterator<Item = impl Into<Operand<'a>>>) -> Self {
        self.parameters = values.into_iter().map(Into::into).collect();
        self
    }

    keywords! {
        /// Sets a mask (`bool`) that broadcasts with the input and selects the elements to reduce.
        where_;
        /// Sets the dtype of the loop.
        dtype;
        order;
        /// Keeps reduced axes, with extent 1.
        keepdims;
        device;
        stream;
        threads;
        /// The flags of every step of the reduction are reported.
        report_fp_flags;
        fail_on_fp_flags;
    }

    /// Calls `run` with all arguments filled in. The frame outlives `run`.
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
        if !self.parameters.is_empty() {
            args.parameters = frame.place_all(self.parameters.iter())?;
            args.nparameters = self.parameters.len() as i32;
        }
        match &self.axes {
            Axes::First => {}
            Axes::All => args.naxis = sys::GUF_ALL_AXES,
            Axes::One(axis) => (args.axis, args.naxis) = (axis, 1),
            Axes::Listed(axes) => (args.axis, args.naxis) = (axes.as_ptr(), count(axes)),
        }
        args.options.fp_flags = self.borrowed.fp_flags_pointer();
        Ok((run(&mut args)?, frame))
    }

    fn launch(&mut self, outputs: &[Output<'_>]) -> Result<Vec<Option<DynArray>>> {
        let ufunc = self.ufunc.as_raw();
        // SAFETY: the operands are in the frame, which is alive until `finish` has waited.
        let (done, frame) = self.run(outputs, |args| Ok(unsafe { REDUCE.call(ufunc, args) }))?;
        self.borrowed.finish(done, &frame, outputs)
    }

    /// Returns one output to allocate per result.
    fn allocate(&self) -> Result<Vec<Output<'static>>> {
        let count = self.ufunc.info()?.nresults.max(1);
        Ok((0..count).map(|_| Output::allocate()).collect())
    }

    /// Reduces into a new array.
    ///
    /// # Errors
    /// [`Status::VALUE`] if the ufunc cannot be reduced, or if there are no elements and no
    /// identity; [`Status::AXIS`] if an axis is out of range or repeated; and the other errors of
    /// `guf_reduce`.
    pub fn call(&mut self) -> Result<DynArray> {
        let made = self.launch(&[Output::allocate()])?.pop().flatten();
        made.ok_or_else(|| Error::new(Status::INTERNAL, "no output was allocated"))
    }

    /// Reduces into new arrays, one per result of a reduction with a user-defined accumulator.
    ///
    /// # Errors
    /// As [`Reduce::call`].
    pub fn call_all(&mut self) -> Result<Vec<DynArray>> {
        let outputs = self.allocate()?;
        Ok(self.launch(&outputs)?.into_iter().flatten().collect())
    }

    /// Reduces into existing outputs, one per result. Returns the arrays that were allocated for
    /// [`Output::allocate`].
    ///
    /// # Errors
    /// As [`Reduce::call`]; [`Status::SHAPE`], [`Status::READ_ONLY`], [`Status::OVERLAP`].
    pub fn call_into<'o>(&mut self, outputs: impl Outputs<'o>) -> Result<Vec<Option<DynArray>>> {
        self.launch(outputs.into_outputs().as_ref())
    }

    /// Returns what the call would do, without running it.
    ///
    /// # Errors
    /// The errors of [`Reduce::call`] that occur before the work starts.
    pub fn resolve(&mut self) -> Result<Resolution> {
        let (ufunc, outputs) = (self.ufunc.as_raw(), self.allocate()?);
        // SAFETY: the operands are in the frame, which outlives the call.
        let resolve = |args: &mut _| unsafe { REDUCE.resolve(ufunc, args, outputs.len()) };
        Ok(self.run(&outputs, resolve)?.0)
    }

    /// Returns what the call would do, as text: the loop, its kernel, and the order in which
    /// elements are reduced.
    ///
    /// # Errors
    /// As [`Reduce::resolve`].
    pub fn explain(&mut self) -> Result<String> {
        let (ufunc, outputs) = (self.ufunc.as_raw(), self.allocate()?);
        // SAFETY: the operands are in the frame, which outlives the call.
        Ok(self.run(&outputs, |args| unsafe { REDUCE.explain(ufunc, args) })?.0)
    }
}

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

static AT: Entries<sys::guf_at_args> = entries!(guf_at, GUF_OPERATION_AT, at);

/// A prepared [`Ufunc::at`]: `array[indices] = op(array[indices], operand)`, with its keywords.
///
/// ```
/// use gufunc::{scalar, ufunc};
/// let mut counts = [0i64; 3];
/// ufunc("add")?.at(&mut counts, &[0i64, 2, 2]).operand(scalar(1i64)).call()?;
/// assert_eq!(counts, [1, 0, 2]);
/// # Ok::<(), gufunc::Error>(())
/// ```
#[must_use = "it runs by `call`"]
pub struct At<'a> {
    ufunc: &'a Ufunc,
    args: sys::guf_at_args,
    array: Output<'a>,
    indices: Vec<Operand<'a>>,
    operand: Option<Operand<'a>>,
    borrowed: Borrowed<'a>,
}

impl Ufunc {
    /// Prepares the application of the ufunc in place to indexed elements. If an index occurs
    /// several times, the ufunc is applied once for each occurrence. `indices` are integer operands
    /// that index the first axes.
    pub fn at<'a>(&'a self, array: impl Into<Output<'a>>, indices: impl Inputs<'a>) -> At<'a> {
        At {
            ufunc: self,
            args: sys::guf_at_args::new(),
            array: array.into(),
            indices: indices.into_list(),
            operand: None,
            borrowed: Borrowed::default(),
        }
    }
}

impl<'a> At<'a> {
    /// Sets the second operand of a binary ufunc, which is broadcast to the indexed elements.
    pub fn operand(mut self, operand: impl Into<Operand<'a>>) -> Self {
        self.operand = Some(operand.into());
        self
    }

    keywords! {
        device;
        stream;
        threads;
        /// The flags of every application are reported, including the applications to a repeated
        /// index.
        report_fp_flags;
        fail_on_fp_flags;
    }

    /// Calls `run` with all arguments filled in.
    fn run<R>(
        &mut self,
        run: impl FnOnce(&mut sys::guf_at_args) -> Result<R>,
    ) -> Result<(R, Frame)> {
        let (mut frame, mut args) = (Frame::new(), self.args);
        args.array = frame.place(&self.array.0)?;
        args.indices = frame.place_all(self.indices.iter())?;
        args.nindices = count(&self.indices);
        if let Some(operand) = &self.operand {
            args.operand = frame.place(operand)?;
        }
        args.options.fp_flags = self.borrowed.fp_flags_pointer();
        Ok((run(&mut args)?, frame))
    }

    /// Applies the ufunc, which changes the array.
    ///
    /// # Errors
    /// [`Status::INDEX`](crate::Status::INDEX), [`Status::SHAPE`](crate::Status::SHAPE),
    /// [`Status::VALUE`](crate::Status::VALUE) and the other errors of `guf_at`.
    pub fn call(&mut self) -> Result<()> {
        let ufunc = self.ufunc.as_raw();
        // SAFETY: the operands are in the frame, which is alive until `finish` has waited.
        let (done, frame) = self.run(|args| Ok(unsafe { AT.call(ufunc, args) }))?;
        self.borrowed.finish(done, &frame, &[]).map(|_| ())
    }

    /// Returns what the call would do, without running it.
    ///
    /// # Errors
    /// The errors of [`At::call`] that occur before the work starts.
    pub fn resolve(&mut self) -> Result<Resolution> {
        let ufunc = self.ufunc.as_raw();
        // SAFETY: the operands are in the frame, which outlives the call.
        Ok(self.run(|args| unsafe { AT.resolve(ufunc, args, 1) })?.0)
    }

    /// Returns what the call would do, as text.
    ///
    /// # Errors
    /// As [`At::resolve`].
    pub fn explain(&mut self) -> Result<String> {
        let ufunc = self.ufunc.as_raw();
        // SAFETY: the operands are in the frame, which outlives the call.
        Ok(self.run(|args| unsafe { AT.explain(ufunc, args) })?.0)
    }
}
