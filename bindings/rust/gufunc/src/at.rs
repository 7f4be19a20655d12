// SPDX-License-Identifier: Apache-2.0
//! The method `ufunc.at`.

use crate::array::count;
use crate::frame::Frame;
use crate::keywords::{entries, keywords, Borrowed, Entries};
use crate::{Inputs, Operand, Output, Resolution, Result, Ufunc};
use gufunc_sys as sys;

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
