// SPDX-License-Identifier: Apache-2.0
//! What calls and all methods share: keywords, what they borrow, and C's entries.

use crate::frame::Frame;
use crate::status::check;
use crate::{DynArray, FpEvents, Output, Resolution, Result, Stream};
use gufunc_sys as sys;
use std::ffi::c_char;

/// Declares setters of keywords for a type that has `args` and `borrowed`. What differs between the
/// types is said where they are listed.
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
        /// The layout of allocated outputs.
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
        /// Where it runs; by default where the operands lie.
        pub fn device(mut self, device: crate::Device) -> Self {
            self.args.device = device.as_raw();
            self
        }
    };
    (@stream) => {
        /// Queues it. Slices are lent until it returns: where one is an operand, or a place for
        /// events is given, it waits for the stream.
        pub fn stream(mut self, stream: &'a crate::Stream) -> Self {
            self.borrowed.stream = Some(stream);
            self.args.stream = stream.as_raw();
            self
        }
    };
    (@threads) => {
        /// At most so many threads of the cpu; 0 is the library's choice.
        pub fn threads(mut self, threads: u32) -> Self {
            self.args.threads = threads;
            self
        }
    };
    (@report_events $(#[$doc:meta])*) => {
        /// Adds those floating-point events of `report` that are found to `found`, and waits for
        /// them.
        $(#[$doc])*
        pub fn report_events(
            mut self,
            report: crate::FpEvents,
            found: &'a mut crate::FpEvents,
        ) -> Self {
            self.args.fp_report = report.0;
            self.borrowed.events = Some(found);
            self
        }
    };
    (@fail_on_events) => {
        /// Events that fail it with [`Status::FLOATING_POINT`](crate::Status::FLOATING_POINT);
        /// outputs are then written.
        pub fn fail_on_events(mut self, events: crate::FpEvents) -> Self {
            self.args.fp_fail = events.0;
            self
        }
    };
}

pub(crate) use keywords;

/// What is borrowed beside the operands.
#[derive(Default)]
pub(crate) struct Borrowed<'a> {
    pub(crate) stream: Option<&'a Stream>,
    pub(crate) events: Option<&'a mut FpEvents>,
}

impl Borrowed<'_> {
    /// Where C adds events; NULL where nobody asks.
    pub(crate) fn place_of_events(&mut self) -> *mut u32 {
        self.events.as_mut().map_or(std::ptr::null_mut(), |events| &mut events.0)
    }

    /// Behind a call, also one that failed on its way: waits for what still uses what is lent, and
    /// gives the arrays that were allocated for `outputs`.
    pub(crate) fn finish(
        &self,
        done: Result<()>,
        frame: &Frame,
        outputs: &[Output<'_>],
    ) -> Result<Vec<Option<DynArray>>> {
        let made = frame.allocated(outputs);
        let waited = match self.stream {
            Some(stream) if frame.lends() || self.events.is_some() => stream.synchronize(),
            // What lies in host memory is complete; on a device events come when its work is done.
            None if self.events.is_some() => frame.wait_for_devices(),
            _ => Ok(()),
        };
        done.and(waited).map(|()| made)
    }
}

/// A function of C's that works, and those that tell what it would do.
pub(crate) struct Entries<A> {
    pub(crate) call: unsafe fn(sys::guf_ufunc, *mut A, *mut sys::guf_error) -> sys::guf_status,
    pub(crate) resolve: unsafe fn(
        sys::guf_ufunc,
        *const A,
        *mut sys::guf_resolution,
        *mut sys::guf_error,
    ) -> sys::guf_status,
    pub(crate) explain: unsafe fn(
        sys::guf_ufunc,
        *const A,
        *mut c_char,
        *mut u64,
        *mut sys::guf_error,
    ) -> sys::guf_status,
}

/// Entries by their names in C.
macro_rules! entries {
    ($call:ident, $resolve:ident, $explain:ident) => {
        // SAFETY: of all three, what the caller of an entry promises.
        unsafe {
            crate::keywords::Entries {
                call: |ufunc, args, error| sys::$call(ufunc, args, error),
                resolve: |ufunc, args, out, error| sys::$resolve(ufunc, args, out, error),
                explain: |ufunc, args, text, n, error| sys::$explain(ufunc, args, text, n, error),
            }
        }
    };
}

pub(crate) use entries;

impl<A> Entries<A> {
    /// # Safety
    /// What the arguments point to is there, and lent until what is queued is done.
    #[inline(always)]
    pub(crate) unsafe fn call(&self, ufunc: sys::guf_ufunc, args: &mut A) -> Result<()> {
        // SAFETY: guaranteed by the caller.
        check(|error| unsafe { (self.call)(ufunc, args, error) })
    }

    /// What it would do with so many outputs.
    ///
    /// # Safety
    /// What the arguments point to is there.
    pub(crate) unsafe fn resolve(
        &self,
        ufunc: sys::guf_ufunc,
        args: &A,
        outputs: usize,
    ) -> Result<Resolution> {
        // SAFETY: the caller's promise, and a place for the answer.
        Resolution::of(outputs, |out, error| unsafe { (self.resolve)(ufunc, args, out, error) })
    }

    /// The same as text.
    ///
    /// # Safety
    /// What the arguments point to is there.
    pub(crate) unsafe fn explain(&self, ufunc: sys::guf_ufunc, args: &A) -> Result<String> {
        // SAFETY: the caller's promise, and memory of that length.
        crate::text::written(|text, length, error| unsafe {
            (self.explain)(ufunc, args, text, length, error)
        })
    }
}
