// SPDX-License-Identifier: Apache-2.0
//! Streams, events, and graphs, which are recorded work of a stream that can be launched many
//! times.

use crate::context::nanoseconds;
use crate::handle::counted;
use crate::status::{check, run};
use crate::{Device, Result, Status};
use gufunc_sys as sys;
use std::ops::Deref;
use std::time::Duration;

counted! {
    /// A queue of work on a device, which runs in order.
    ///
    /// Queued work completes even if the stream is dropped. A stream keeps the first failure of its
    /// work, which [`Stream::synchronize`] reports once.
    Stream, guf_stream, guf_stream_retain, guf_stream_release
}

counted! {
    /// A point in a stream.
    Event, guf_event, guf_event_retain, guf_event_release
}

impl Stream {
    /// Creates a stream on a device.
    ///
    /// # Errors
    /// [`Status::NO_MEMORY`], [`Status::SHUTDOWN`], or an error of the driver.
    pub fn new(device: Device) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer to the handle is valid for the call.
        check(|error| unsafe { sys::guf_stream_create(device.as_raw(), 0, &mut raw, error) })?;
        Ok(Stream { raw })
    }

    /// Adopts a `CUstream` or `hipStream_t`, which the caller continues to own.
    ///
    /// # Safety
    /// The native stream outlives this value and its clones.
    ///
    /// # Errors
    /// [`Status::UNSUPPORTED`] on the cpu, [`Status::HANDLE`], [`Status::DEVICE_MISMATCH`].
    pub unsafe fn adopt(device: Device, native: u64) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the handle pointer is valid; the caller guarantees the native stream.
        check(|error| unsafe {
            sys::guf_stream_adopt(device.as_raw(), native, 0, &mut raw, error)
        })?;
        Ok(Stream { raw })
    }

    /// Returns the stream's device.
    ///
    /// # Errors
    /// Any error that the library reports.
    pub fn device(&self) -> Result<Device> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer to the handle is valid for the call.
        check(|error| unsafe { sys::guf_stream_get_device(self.raw, &mut raw, error) })?;
        Ok(Device::new(raw))
    }

    /// Returns the vendor's handle, which the stream continues to own.
    ///
    /// # Errors
    /// [`Status::UNSUPPORTED`] if the backend has no such handle (cpu).
    pub fn native(&self) -> Result<u64> {
        let mut native = 0;
        let none = std::ptr::null_mut();
        // SAFETY: the pointer to the number is valid for the call.
        check(|error| unsafe { sys::guf_stream_get_native(none, self.raw, &mut native, error) })?;
        Ok(native)
    }

    /// Whether all queued work is complete. Never waits, and does not report failures of the work.
    ///
    /// # Errors
    /// [`Status::FORKED`], [`Status::CAPTURE`].
    pub fn query(&self) -> Result<bool> {
        // SAFETY: the function accepts any handle.
        let status = run(|error| unsafe { sys::guf_stream_query(self.raw, error) })?;
        Ok(status == Status::OK)
    }

    /// Waits until all work queued so far is complete.
    ///
    /// # Errors
    /// The first failure of the stream's work since the last report; [`Status::FORKED`],
    /// [`Status::CAPTURE`].
    pub fn synchronize(&self) -> Result<()> {
        self.synchronize_for(None).map(|_| ())
    }

    /// Waits at most `timeout` until all work queued so far is complete. Returns `false` if the
    /// work is still running.
    ///
    /// # Errors
    /// As [`Stream::synchronize`].
    pub fn synchronize_for(&self, timeout: Option<Duration>) -> Result<bool> {
        let limit = nanoseconds(timeout);
        // SAFETY: the function accepts any handle.
        let status = run(|error| unsafe { sys::guf_stream_synchronize(self.raw, limit, error) })?;
        Ok(status == Status::OK)
    }

    /// Returns a guard that waits for the stream when it is dropped, also during a panic.
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

    /// Makes later work of this stream wait for `event`. Returns immediately.
    ///
    /// # Errors
    /// [`Status::DEVICE_MISMATCH`], [`Status::CAPTURE`].
    pub fn wait_event(&self, event: &Event) -> Result<()> {
        // SAFETY: the function accepts any handle.
        check(|error| unsafe { sys::guf_stream_wait_event(self.raw, event.raw, error) })
    }

    /// Records a new event at the current end of this stream.
    ///
    /// # Errors
    /// As [`Event::new`] and [`Event::record`].
    pub fn record(&self) -> Result<Event> {
        let event = Event::new(self.device()?)?;
        event.record(self)?;
        Ok(event)
    }

    /// Starts a capture: until [`Stream::end_capture`], work that is queued on the stream is
    /// recorded instead of run.
    ///
    /// ```
    /// # use gufunc::{device, ufunc, weak, Array, Stream};
    /// # let Ok(gpu) = device("cuda:0") else { return Ok(()) };
    /// let (stream, x) = (Stream::new(gpu)?, Array::full(gpu, &[3], 1.0)?);
    /// // SAFETY: no other thread uses the stream.
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
    /// Until the capture has ended, only one thread at a time may use this stream, the streams that
    /// join the capture through events of the capture, these events until they are recorded again,
    /// and a graph that [`Stream::end_capture_into`] replaces. The reason is that the recorded work
    /// is stored without a lock.
    ///
    /// # Errors
    /// [`Status::UNSUPPORTED`] on the cpu, [`Status::CAPTURE`] if the stream is already being
    /// captured.
    pub unsafe fn begin_capture(&self) -> Result<()> {
        // SAFETY: the function accepts any handle; the caller guarantees exclusive use.
        check(|error| unsafe { sys::guf_stream_begin_capture(self.raw, error) })
    }

    /// Ends a capture and returns the recorded work as a graph.
    ///
    /// # Errors
    /// [`Status::CAPTURE`] if the stream is not being captured, or if a stream that joined the
    /// capture has not rejoined this stream.
    pub fn end_capture(&self) -> Result<Graph> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer to the handle is valid for the call.
        check(|error| unsafe { sys::guf_stream_end_capture(self.raw, &mut raw, error) })?;
        // SAFETY: the function returned one reference.
        Ok(unsafe { Graph::from_raw(raw) })
    }

    /// Ends a capture and replaces the work of `graph`. Replacing is fastest if the new work
    /// differs from the old work only in its arrays.
    ///
    /// # Errors
    /// As [`Stream::end_capture`]; [`Status::DEVICE_MISMATCH`].
    pub fn end_capture_into(&self, graph: &mut Graph) -> Result<()> {
        let mut raw = graph.as_raw();
        // SAFETY: the pointer refers to a handle, which the function does not change.
        check(|error| unsafe { sys::guf_stream_end_capture(self.raw, &mut raw, error) })
    }
}

/// A guard that waits for its stream when it is dropped. See [`Stream::auto_synchronize`].
#[must_use = "dropping it waits for the stream"]
pub struct StreamGuard<'a> {
    stream: &'a Stream,
}

impl StreamGuard<'_> {
    /// Waits for the stream and reports a failure, which dropping the guard would ignore.
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
    /// Creates an event of a device. An event that was never recorded counts as complete.
    ///
    /// # Errors
    /// [`Status::NO_MEMORY`], or an error of the driver.
    pub fn new(device: Device) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer to the handle is valid for the call.
        check(|error| unsafe { sys::guf_event_create(device.as_raw(), 0, &mut raw, error) })?;
        Ok(Event { raw })
    }

    /// Records the event at the current end of `stream`. Recording the event again replaces the
    /// earlier recording.
    ///
    /// # Errors
    /// [`Status::DEVICE_MISMATCH`].
    pub fn record(&self, stream: &Stream) -> Result<()> {
        // SAFETY: the function accepts any handle.
        check(|error| unsafe { sys::guf_event_record(self.raw, stream.raw, error) })
    }

    /// Whether the stream has reached the event. Never waits.
    ///
    /// # Errors
    /// The failure of the stream, if it had failed before the event was recorded.
    pub fn query(&self) -> Result<bool> {
        // SAFETY: the function accepts any handle.
        Ok(run(|error| unsafe { sys::guf_event_query(self.raw, error) })? == Status::OK)
    }

    /// Waits at most `timeout` until the stream reaches the event. Returns `false` if it has not.
    ///
    /// # Errors
    /// As [`Event::query`].
    pub fn wait(&self, timeout: Option<Duration>) -> Result<bool> {
        let limit = nanoseconds(timeout);
        // SAFETY: the function accepts any handle.
        Ok(run(|error| unsafe { sys::guf_event_wait(self.raw, limit, error) })? == Status::OK)
    }

    /// Returns the milliseconds between two recorded events of one device, or `None` if one of the
    /// events is not complete.
    ///
    /// # Errors
    /// [`Status::UNSUPPORTED`] on the cpu, [`Status::ARG`] if one of the events was never recorded.
    pub fn elapsed(from: &Event, to: &Event) -> Result<Option<f64>> {
        let mut time = 0.0;
        // SAFETY: the pointer to the number is valid for the call.
        let status =
            run(|error| unsafe { sys::guf_event_elapsed(from.raw, to.raw, &mut time, error) })?;
        Ok((status == Status::OK).then_some(time))
    }
}

counted! {
    /// Recorded work of a stream. A graph keeps the arrays that the work uses alive. See
    /// [`Stream::begin_capture`].
    Graph, guf_graph, guf_graph_retain, guf_graph_release
}

impl Graph {
    /// Queues the work as a whole on a stream of the graph's device.
    ///
    /// # Errors
    /// [`Status::DEVICE_MISMATCH`](crate::Status::DEVICE_MISMATCH),
    /// [`Status::CAPTURE`](crate::Status::CAPTURE), [`Status::LAUNCH`](crate::Status::LAUNCH).
    pub fn launch(&self, stream: &Stream) -> Result<()> {
        // SAFETY: the function accepts any handle.
        check(|error| unsafe { sys::guf_graph_launch(self.raw, stream.as_raw(), error) })
    }
}
