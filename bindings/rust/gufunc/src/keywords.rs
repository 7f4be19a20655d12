// SPDX-License-Identifier: Apache-2.0
//! Code that plain calls and methods share: keywords, borrowed objects, and tables of C functions.

use crate::operand::Frame;
use crate::status::check;
use crate::{DynArray, FpFlags, Output, Resolution, Result, Stream};
use gufunc_sys as sys;

/// Declares setters of keywords for a type with the fields `args` and `borrowed`. Documentation
/// that differs between the types is passed to the macro.
macro_rules! keywords {
    ($($(#[$doc:meta])* $keyword:ident;)*) => {
        $(crate::keywords::keywords! { @$keyword $(#[$doc])* })*
    };
    (@dtype $(#[$doc:meta])*) => {
        $(#[$doc])*
        pub fn dtype(mut self, dtype: crate::DType) -> Self {
            self.args.dtype = dtype.0;
            self
        }
    };
    (@order) => {
        /// Sets the layout of allocated outputs.
        pub fn order(mut self, order: crate::Order) -> Self {
            self.args.order = order as i32;
            self
        }
    };
    (@keepdims $(#[$doc:meta])*) => {
        $(#[$doc])*
        pub fn keepdims(mut self) -> Self {
            self.args.flags |= sys::GUF_CALL_KEEPDIMS;
            self
        }
    };
    (@where_ $(#[$doc:meta])*) => {
        $(#[$doc])*
        pub fn where_(mut self, mask: impl Into<Operand<'a>>) -> Self {
            self.mask = Some(mask.into());
            self
        }
    };
    (@device) => {
        /// Sets the device. By default the call runs on the device of its operands.
        pub fn device(mut self, device: crate::Device) -> Self {
            self.args.options.device = device.as_raw();
            self
        }
    };
    (@stream) => {
        /// Queues the call on a stream. Slices are borrowed only until the call returns: if an
        /// operand is a slice, or flags are reported, the call waits for the stream.
        pub fn stream(mut self, stream: &'a crate::Stream) -> Self {
            self.borrowed.stream = Some(stream);
            self.args.options.stream = stream.as_raw();
            self
        }
    };
    (@threads) => {
        /// Limits the number of threads on the cpu; 0 leaves the choice to the library.
        pub fn threads(mut self, threads: u32) -> Self {
            self.args.options.threads = threads;
            self
        }
    };
    (@report_fp_flags $(#[$doc:meta])*) => {
        /// Adds to `found` the floating-point flags of `report` that the call raises, and waits
        /// until these flags are known.
        $(#[$doc])*
        pub fn report_fp_flags(
            mut self,
            report: crate::FpFlags,
            found: &'a mut crate::FpFlags,
        ) -> Self {
            self.args.options.fp_report = report.0;
            self.borrowed.fp_flags = Some(found);
            self
        }
    };
    (@fail_on_fp_flags) => {
        /// Makes these flags fail the call with
        /// [`Status::FLOATING_POINT`](crate::Status::FLOATING_POINT). The outputs are still
        /// written.
        pub fn fail_on_fp_flags(mut self, fp_flags: crate::FpFlags) -> Self {
            self.args.options.fp_fail = fp_flags.0;
            self
        }
    };
}

pub(crate) use keywords;

/// Objects that a call borrows in addition to its operands.
#[derive(Default)]
pub(crate) struct Borrowed<'a> {
    pub(crate) stream: Option<&'a Stream>,
    pub(crate) fp_flags: Option<&'a mut FpFlags>,
}

impl Borrowed<'_> {
    /// Returns the address to which C adds flags, or NULL if no flags are reported.
    pub(crate) fn fp_flags_pointer(&mut self) -> *mut u32 {
        self.fp_flags.as_mut().map_or(std::ptr::null_mut(), |fp_flags| &mut fp_flags.0)
    }

    /// Completes a call, even if the call failed. Waits for work that still uses borrowed memory,
    /// and returns the arrays that were allocated for `outputs`.
    pub(crate) fn finish(
        &self,
        done: Result<()>,
        frame: &Frame,
        outputs: &[Output<'_>],
    ) -> Result<Vec<Option<DynArray>>> {
        let made = frame.allocated(outputs);
        let waited = match self.stream {
            Some(stream) if frame.borrows() || self.fp_flags.is_some() => stream.synchronize(),
            // A call on host memory is complete here. A call on device memory sets the flags when
            // the work of the device is complete.
            None if self.fp_flags.is_some() => frame.wait_for_devices(),
            _ => Ok(()),
        };
        done.and(waited).map(|()| made)
    }
}

/// The C function that runs a call, and a function that makes the request for resolving or
/// explaining the call.
pub(crate) struct Entries<A> {
    pub(crate) call: unsafe fn(sys::guf_ufunc, *mut A, *mut sys::guf_error) -> sys::guf_status,
    pub(crate) request: fn(*const A) -> sys::guf_request,
}

/// Makes [`Entries`] from the name of the C function, its `guf_operation` and the field of
/// `guf_request` for its arguments.
macro_rules! entries {
    ($call:ident, $operation:ident, $field:ident) => {
        crate::keywords::Entries {
            // SAFETY: the caller of the entry fulfils the requirements of the C function.
            call: |ufunc, args, error| unsafe { sys::$call(ufunc, args, error) },
            request: |args| {
                let mut request = sys::guf_request::new();
                request.operation = sys::$operation;
                request.$field = args;
                request
            },
        }
    };
}

pub(crate) use entries;

impl<A> Entries<A> {
    /// # Safety
    /// All memory that the arguments refer to is valid until the queued work is complete.
    #[inline(always)]
    pub(crate) unsafe fn call(&self, ufunc: sys::guf_ufunc, args: &mut A) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        check(|error| unsafe { (self.call)(ufunc, args, error) })
    }

    /// Returns what a call with this number of outputs would do.
    ///
    /// # Safety
    /// All memory that the arguments refer to is valid.
    pub(crate) unsafe fn resolve(
        &self,
        ufunc: sys::guf_ufunc,
        args: &A,
        outputs: usize,
    ) -> Result<Resolution> {
        let request = (self.request)(args);
        // SAFETY: guaranteed by the caller, and the result pointer is valid.
        Resolution::of(outputs, |out, error| unsafe {
            sys::guf_resolve(ufunc, &request, out, error)
        })
    }

    /// Returns what a call would do, as text.
    ///
    /// # Safety
    /// All memory that the arguments refer to is valid.
    pub(crate) unsafe fn explain(&self, ufunc: sys::guf_ufunc, args: &A) -> Result<String> {
        let request = (self.request)(args);
        // SAFETY: guaranteed by the caller, and the buffer has the length that is passed.
        crate::status::written(|text, length, error| unsafe {
            sys::guf_explain(ufunc, &request, text, length, error)
        })
    }
}
