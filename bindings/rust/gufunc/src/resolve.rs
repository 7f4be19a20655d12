// SPDX-License-Identifier: Apache-2.0
//! Descriptions of what a call would do, without running the call.

use crate::call::{CALL, OUTER};
use crate::keywords::Entries;
use crate::status::check;
use crate::{Call, DType, Inputs, Operand, Output, Outputs, Result};
use gufunc_sys as sys;

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
