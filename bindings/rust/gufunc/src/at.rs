// SPDX-License-Identifier: Apache-2.0
//! ufunc.at.

use crate::array::count;
use crate::events::FpEvents;
use crate::frame::Frame;
use crate::status::check;
use crate::{Device, Inputs, Operand, Output, Resolution, Result, Stream, Ufunc};
use gufunc_sys as sys;

/// `array[indices] = op(array[indices], operand)`, with its keywords; [`Ufunc::at`] makes one.
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
    stream: Option<&'a Stream>,
    events: Option<&'a mut FpEvents>,
}

impl Ufunc {
    /// Applies the ufunc in place to indexed elements; every occurrence of an index counts.
    /// `indices` are operands of integers, which index the first axes.
    pub fn at<'a>(&'a self, array: impl Into<Output<'a>>, indices: impl Inputs<'a>) -> At<'a> {
        At {
            ufunc: self,
            args: sys::guf_at_args::new(),
            array: array.into(),
            indices: indices.into_list(),
            operand: None,
            stream: None,
            events: None,
        }
    }
}

impl<'a> At<'a> {
    /// The second operand of a binary ufunc, broadcast to the indexed elements.
    pub fn operand(mut self, operand: impl Into<Operand<'a>>) -> Self {
        self.operand = Some(operand.into());
        self
    }

    /// Where it runs; by default where the array lies.
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

    /// As [`Call::report_events`](crate::Call::report_events), of every occurrence of an index.
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

    fn run<R>(&mut self, run: impl FnOnce(&sys::guf_at_args) -> Result<R>) -> Result<R> {
        let (mut frame, mut args) = (Frame::new(), self.args);
        let indices = self.indices.as_slice();
        args.array = frame.place(&self.array.0)?;
        args.indices = frame.place_all(indices.iter())?;
        args.nindices = count(indices);
        if let Some(operand) = &self.operand {
            args.operand = frame.place(operand)?;
        }
        if let Some(events) = &mut self.events {
            args.fp_events = &mut events.0;
        }
        run(&args)
    }

    /// Changes the array.
    ///
    /// # Errors
    /// [`Status::INDEX`](crate::Status::INDEX), [`Status::SHAPE`](crate::Status::SHAPE),
    /// [`Status::VALUE`](crate::Status::VALUE) and the rest of `guf_at`'s.
    pub fn call(&mut self) -> Result<()> {
        let ufunc = self.ufunc.as_raw();
        self.run(|args| {
            // SAFETY: arguments whose operands are in the frame, and lent until the wait below.
            check(|error| unsafe { sys::guf_at(ufunc, args, error) })
        })?;
        let lent = self.array.0.lent()
            || self.indices.iter().chain(&self.operand).any(Operand::lent)
            || self.events.is_some();
        match self.stream {
            Some(stream) if lent => stream.synchronize(),
            _ => Ok(()),
        }
    }

    /// What it would do, without doing it.
    ///
    /// # Errors
    /// As [`At::call`]'s before it runs.
    pub fn resolve(&mut self) -> Result<Resolution> {
        let ufunc = self.ufunc.as_raw();
        self.run(|args| {
            // SAFETY: arguments whose operands are in the frame.
            Resolution::of(1, |out, error| unsafe { sys::guf_resolve_at(ufunc, args, out, error) })
        })
    }

    /// The same as text.
    ///
    /// # Errors
    /// As [`At::resolve`].
    pub fn explain(&mut self) -> Result<String> {
        let ufunc = self.ufunc.as_raw();
        self.run(|args| {
            crate::text::written(|text, length, error| {
                // SAFETY: arguments whose operands are in the frame, memory of that length.
                unsafe { sys::guf_explain_at(ufunc, args, text, length, error) }
            })
        })
    }
}
