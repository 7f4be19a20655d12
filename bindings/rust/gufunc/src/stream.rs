// SPDX-License-Identifier: Apache-2.0
//! Streams and events.

use crate::context::nanoseconds;
use crate::handle::counted;
use crate::status::{ask, check};
use crate::{Device, Graph, Result, Status};
use gufunc_sys as sys;
use std::ops::Deref;
use std::time::Duration;

counted! {
    /// An in-order queue of a device's work.
    ///
    /// Work that is queued completes even if the stream is dropped. A stream keeps the first
    /// failure of its work, which [`Stream::synchronize`] tells once.
    Stream, guf_stream, guf_stream_retain, guf_stream_release
}

counted! {
    /// A mark in a stream.
    Event, guf_event, guf_event_retain, guf_event_release
}

impl Stream {
    /// A new stream of a device.
    ///
    /// # Errors
    /// [`Status::NO_MEMORY`], [`Status::SHUTDOWN`], or what the driver says.
    pub fn new(device: Device) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer to the handle is valid for the call.
        check(|error| unsafe { sys::guf_stream_create(device.as_raw(), 0, &mut raw, error) })?;
        Ok(Stream { raw })
    }

    /// Adopts a `CUstream` or `hipStream_t`, which stays the caller's.
    ///
    /// # Safety
    /// The native stream outlives this value and its clones.
    ///
    /// # Errors
    /// [`Status::UNSUPPORTED`] of the cpu, [`Status::HANDLE`], [`Status::DEVICE_MISMATCH`].
    pub unsafe fn adopt(device: Device, native: u64) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: a place for the handle; the native one is the caller's promise.
        check(|error| unsafe {
            sys::guf_stream_adopt(device.as_raw(), native, 0, &mut raw, error)
        })?;
        Ok(Stream { raw })
    }

    /// The stream's device.
    ///
    /// # Errors
    /// What the library says.
    pub fn device(&self) -> Result<Device> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer to the handle is valid for the call.
        check(|error| unsafe { sys::guf_stream_get_device(self.raw, &mut raw, error) })?;
        Ok(Device::new(raw))
    }

    /// The vendor's handle, borrowed.
    ///
    /// # Errors
    /// [`Status::UNSUPPORTED`] where there is none (cpu).
    pub fn native(&self) -> Result<u64> {
        let mut native = 0;
        let none = std::ptr::null_mut();
        // SAFETY: the pointer to the number is valid for the call.
        check(|error| unsafe { sys::guf_stream_get_native(none, self.raw, &mut native, error) })?;
        Ok(native)
    }

    /// Whether all queued work is done. Never waits; tells no failure of the work.
    ///
    /// # Errors
    /// [`Status::FORKED`], [`Status::CAPTURE`].
    pub fn query(&self) -> Result<bool> {
        // SAFETY: the function accepts any handle.
        let status = ask(|error| unsafe { sys::guf_stream_query(self.raw, error) })?;
        Ok(status == Status::OK)
    }

    /// Waits until all that was queued is done.
    ///
    /// # Errors
    /// The first failure of the stream's work since the last report; [`Status::FORKED`],
    /// [`Status::CAPTURE`].
    pub fn synchronize(&self) -> Result<()> {
        self.synchronize_for(None).map(|_| ())
    }

    /// The same, for at most `timeout`; `false`: the work goes on.
    ///
    /// # Errors
    /// As [`Stream::synchronize`].
    pub fn synchronize_for(&self, timeout: Option<Duration>) -> Result<bool> {
        let limit = nanoseconds(timeout);
        // SAFETY: the function accepts any handle.
        let status = ask(|error| unsafe { sys::guf_stream_synchronize(self.raw, limit, error) })?;
        Ok(status == Status::OK)
    }

    /// A guard that waits for the stream when it is dropped, panics included.
    ///
    /// ```
    /// # use gufunc::{device, ufunc, Array, Stream};
    /// let stream = Stream::new(device("cpu")?)?;
    /// let x = Array::from_vec(vec![1.0, 4.0], &[2])?;
    /// let y = {
    ///     let queue = stream.auto_synchronize();
    ///     let y = ufunc("sqrt")?.with().stream(&queue).call(&x)?;
    ///     queue.finish()?;
    ///     y
    /// };
    /// assert_eq!(y.to_vec::<f64>()?, [1.0, 2.0]);
    /// # Ok::<(), gufunc::Error>(())
    /// ```
    pub fn auto_synchronize(&self) -> StreamGuard<'_> {
        StreamGuard { stream: self }
    }

    /// Makes later work of this stream wait for `event`; returns at once.
    ///
    /// # Errors
    /// [`Status::DEVICE_MISMATCH`], [`Status::CAPTURE`].
    pub fn wait_event(&self, event: &Event) -> Result<()> {
        // SAFETY: the function accepts any handle.
        check(|error| unsafe { sys::guf_stream_wait_event(self.raw, event.raw, error) })
    }

    /// An event that marks the present end of this stream.
    ///
    /// # Errors
    /// As [`Event::new`] and [`Event::record`].
    pub fn record(&self) -> Result<Event> {
        let event = Event::new(self.device()?)?;
        event.record(self)?;
        Ok(event)
    }

    /// From now on what is queued is recorded instead of run, until [`Stream::end_capture`].
    ///
    /// ```
    /// # use gufunc::{device, ufunc, weak, Array, Stream};
    /// # let Ok(gpu) = device("cuda:0") else { return Ok(()) };
    /// let (stream, x) = (Stream::new(gpu)?, Array::full(gpu, &[3], 1.0)?);
    /// // SAFETY: no other thread has the stream.
    /// unsafe { stream.begin_capture()? };
    /// ufunc("add")?.with().stream(&stream).call_into((&x, weak(1)), &x)?;
    /// let graph = stream.end_capture()?;
    /// graph.launch(&stream)?;
    /// stream.synchronize()?;
    /// assert_eq!(x.to_vec()?, [2.0; 3]);
    /// # Ok::<(), gufunc::Error>(())
    /// ```
    ///
    /// # Safety
    /// From here until the capture has ended, one thread at a time uses this stream, those that
    /// join it by its events, these events until they are recorded anew, and a graph that
    /// [`Stream::end_capture_into`] replaces: what is recorded is kept without a lock.
    ///
    /// # Errors
    /// [`Status::UNSUPPORTED`] of the cpu, [`Status::CAPTURE`] when it is captured already.
    pub unsafe fn begin_capture(&self) -> Result<()> {
        // SAFETY: takes any handle; who uses it meanwhile is the caller's promise.
        check(|error| unsafe { sys::guf_stream_begin_capture(self.raw, error) })
    }

    /// Ends a capture: the recorded work as a graph.
    ///
    /// # Errors
    /// [`Status::CAPTURE`] when it is not captured, or a branch has no end.
    pub fn end_capture(&self) -> Result<Graph> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer to the handle is valid for the call.
        check(|error| unsafe { sys::guf_stream_end_capture(self.raw, &mut raw, error) })?;
        // SAFETY: the function returned one reference.
        Ok(unsafe { Graph::from_raw(raw) })
    }

    /// Ends a capture and replaces the work of `graph`: the same with other arrays costs least.
    ///
    /// # Errors
    /// As [`Stream::end_capture`]; [`Status::DEVICE_MISMATCH`].
    pub fn end_capture_into(&self, graph: &mut Graph) -> Result<()> {
        let mut raw = graph.as_raw();
        // SAFETY: a place that holds the handle, which stays the same one.
        check(|error| unsafe { sys::guf_stream_end_capture(self.raw, &mut raw, error) })
    }
}

/// Waits for its stream when it is dropped. See [`Stream::auto_synchronize`].
#[must_use = "dropping it waits for the stream"]
pub struct StreamGuard<'a> {
    stream: &'a Stream,
}

impl StreamGuard<'_> {
    /// Waits now, and tells a failure, which dropping passes over.
    ///
    /// # Errors
    /// As [`Stream::synchronize`].
    pub fn finish(self) -> Result<()> {
        std::mem::ManuallyDrop::new(self).stream.synchronize()
    }
}

impl Deref for StreamGuard<'_> {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        self.stream
    }
}

impl Drop for StreamGuard<'_> {
    fn drop(&mut self) {
        let _ = self.stream.synchronize();
    }
}

impl Event {
    /// An event of a device, not recorded yet: complete.
    ///
    /// # Errors
    /// [`Status::NO_MEMORY`], or what the driver says.
    pub fn new(device: Device) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer to the handle is valid for the call.
        check(|error| unsafe { sys::guf_event_create(device.as_raw(), 0, &mut raw, error) })?;
        Ok(Event { raw })
    }

    /// Marks the present end of `stream`. A second record moves the mark.
    ///
    /// # Errors
    /// [`Status::DEVICE_MISMATCH`].
    pub fn record(&self, stream: &Stream) -> Result<()> {
        // SAFETY: the function accepts any handle.
        check(|error| unsafe { sys::guf_event_record(self.raw, stream.raw, error) })
    }

    /// Whether the mark is reached. Never waits.
    ///
    /// # Errors
    /// The stream's failure, if it had failed before the record.
    pub fn query(&self) -> Result<bool> {
        // SAFETY: the function accepts any handle.
        Ok(ask(|error| unsafe { sys::guf_event_query(self.raw, error) })? == Status::OK)
    }

    /// Waits for the mark, at most `timeout`; `false`: it is not reached yet.
    ///
    /// # Errors
    /// As [`Event::query`].
    pub fn wait(&self, timeout: Option<Duration>) -> Result<bool> {
        let limit = nanoseconds(timeout);
        // SAFETY: the function accepts any handle.
        Ok(ask(|error| unsafe { sys::guf_event_wait(self.raw, limit, error) })? == Status::OK)
    }

    /// Milliseconds between two recorded events of one device; `None`: one is not complete.
    ///
    /// # Errors
    /// [`Status::UNSUPPORTED`] of the cpu, [`Status::ARG`] when one was never recorded.
    pub fn elapsed(from: &Event, to: &Event) -> Result<Option<f64>> {
        let mut time = 0.0;
        // SAFETY: the pointer to the number is valid for the call.
        let status =
            ask(|error| unsafe { sys::guf_event_elapsed(from.raw, to.raw, &mut time, error) })?;
        Ok((status == Status::OK).then_some(time))
    }
}
