// SPDX-License-Identifier: Apache-2.0
//! Graphs: recorded work of a stream that can be launched many times.

use crate::handle::counted;
use crate::status::check;
use crate::{Result, Stream};
use gufunc_sys as sys;

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
