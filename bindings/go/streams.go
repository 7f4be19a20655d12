// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import (
	"context"
	"runtime"
)

// Stream is a queue of work on a device, which runs in order. A nil *Stream means the device's
// default stream; on the cpu, a call with a nil *Stream is complete on return. Streams may be used
// from any goroutine. A stream keeps the first failure of its work until Synchronize reports it.
type Stream struct{ ref handle[C.guf_stream] }

// NewStream makes a stream on the device. Pending work completes even if the stream is closed.
func (d Device) NewStream() (*Stream, error) {
	var made C.guf_stream
	if err := cStreamCreate(d.c, 0, &made); err != nil {
		return nil, err
	}
	return ownStream(made), nil
}

// AdoptStream makes a stream from a CUstream or hipStream_t. The program keeps ownership of the
// vendor's stream, which must outlive the returned Stream.
func (d Device) AdoptStream(native uintptr) (*Stream, error) {
	var made C.guf_stream
	if err := cStreamAdopt(d.c, C.uint64_t(native), 0, &made); err != nil {
		return nil, err
	}
	return ownStream(made), nil
}

func ownStream(c C.guf_stream) *Stream { return owner[Stream](c, cStreamRelease) }

func (s *Stream) reference() *handle[C.guf_stream] {
	if s == nil {
		return nil
	}
	return &s.ref
}

func (s *Stream) handle() C.guf_stream { return s.reference().value() }

// String returns a text such as "stream of cuda:0".
func (s *Stream) String() string {
	d, err := s.Device()
	if err != nil {
		return "no stream"
	}
	return "stream of " + d.String()
}

// Clone returns another reference to the same stream. The caller closes it separately.
func (s *Stream) Clone() (*Stream, error) {
	return another(s, cStreamRetain, ownStream)
}

// Close releases the reference and does not wait for the work. Further calls do nothing.
func (s *Stream) Close() error { return s.reference().close() }

// Device returns the device of the stream.
func (s *Stream) Device() (Device, error) {
	defer runtime.KeepAlive(s)
	var d Device
	err := cStreamGetDevice(s.handle(), &d.c)
	return d, err
}

// Native returns the vendor's handle (CUstream, hipStream_t), which the stream continues to own.
// For a nil *Stream, Native returns the handle of the default stream of d. Native fails with
// ErrUnsupported on the cpu.
func (s *Stream) Native(d Device) (uintptr, error) {
	defer runtime.KeepAlive(s)
	var native C.uint64_t
	err := cStreamGetNative(d.c, s.handle(), &native)
	return uintptr(native), err
}

// Query reports whether all queued work is complete. Query does not report failures of the work.
func (s *Stream) Query() (bool, error) {
	defer runtime.KeepAlive(s)
	return done(cStreamQuery(s.handle()))
}

// Synchronize waits until all work queued so far is complete, and returns the stream's first
// failure since the last report. If ctx ends first, Synchronize returns ctx's error: the work
// continues, and a later call still reports the failure.
func (s *Stream) Synchronize(ctx context.Context) error {
	defer runtime.KeepAlive(s)
	return wait(ctx, func(limit C.uint64_t) error {
		return cStreamSynchronize(s.handle(), limit)
	})
}

// WaitEvent makes later work of the stream wait for the event. WaitEvent returns immediately.
func (s *Stream) WaitEvent(e *Event) error {
	defer runtime.KeepAlive(s)
	defer runtime.KeepAlive(e)
	return cStreamWaitEvent(s.handle(), e.handle())
}

// BeginCapture starts a capture: until EndCapture, work that is queued on the stream is recorded
// instead of run. Launches of plans, calls and copies on the device that allocate nothing, and
// events can be recorded. Everything else fails with ErrCapture; such a failure does not end the
// capture. BeginCapture fails with ErrUnsupported on the cpu.
func (s *Stream) BeginCapture() error {
	defer runtime.KeepAlive(s)
	return cStreamBeginCapture(s.handle())
}

// EndCapture ends a capture and returns its graph.
func (s *Stream) EndCapture() (*Graph, error) {
	defer runtime.KeepAlive(s)
	var made C.guf_graph
	if err := cStreamEndCapture(s.handle(), &made); err != nil {
		return nil, err
	}
	return ownGraph(made), nil
}

// EndCaptureInto ends a capture and replaces the work of an existing graph.
func (s *Stream) EndCaptureInto(g *Graph) error {
	defer runtime.KeepAlive(s)
	defer runtime.KeepAlive(g)
	existing := g.handle()
	if existing == nil {
		return &Error{ErrHandle, "no graph to replace the work of", -1, -1, 0}
	}
	return cStreamEndCapture(s.handle(), &existing)
}

// Event is a point in a stream.
type Event struct{ ref handle[C.guf_event] }

// NewEvent makes an event of the device. An event that was never recorded counts as complete.
func (d Device) NewEvent() (*Event, error) {
	var made C.guf_event
	if err := cEventCreate(d.c, 0, &made); err != nil {
		return nil, err
	}
	return ownEvent(made), nil
}

func ownEvent(c C.guf_event) *Event { return owner[Event](c, cEventRelease) }

func (e *Event) reference() *handle[C.guf_event] {
	if e == nil {
		return nil
	}
	return &e.ref
}

func (e *Event) handle() C.guf_event { return e.reference().value() }

// String returns the kind of the object.
func (e *Event) String() string { return e.reference().kind("event") }

// Clone returns another reference to the same event. The caller closes it separately.
func (e *Event) Clone() (*Event, error) {
	return another(e, cEventRetain, ownEvent)
}

// Close releases the reference. Further calls do nothing.
func (e *Event) Close() error { return e.reference().close() }

// Record records the event at the current end of the stream. Recording the event again
// replaces the earlier recording.
func (e *Event) Record(s *Stream) error {
	defer runtime.KeepAlive(e)
	defer runtime.KeepAlive(s)
	return cEventRecord(e.handle(), s.handle())
}

// Query reports whether the stream has reached the event. If the stream had failed before the event
// was recorded, Query returns that failure.
func (e *Event) Query() (bool, error) {
	defer runtime.KeepAlive(e)
	return done(cEventQuery(e.handle()))
}

// Wait waits until the stream reaches the event. If ctx ends first, Wait returns ctx's error.
func (e *Event) Wait(ctx context.Context) error {
	defer runtime.KeepAlive(e)
	return wait(ctx, func(limit C.uint64_t) error { return cEventWait(e.handle(), limit) })
}

// Elapsed returns the time from this event to another event of the device, in milliseconds. ok is
// false while one of the two events is not complete. Elapsed fails with ErrUnsupported on the cpu.
func (e *Event) Elapsed(to *Event) (milliseconds float64, ok bool, err error) {
	defer runtime.KeepAlive(e)
	defer runtime.KeepAlive(to)
	var found C.double
	ok, err = done(cEventElapsed(e.handle(), to.handle(), &found))
	return float64(found), ok, err
}

// Graph is recorded work of a stream. It can be launched many times, each time as a whole.
type Graph struct{ ref handle[C.guf_graph] }

func ownGraph(c C.guf_graph) *Graph { return owner[Graph](c, cGraphRelease) }

func (g *Graph) reference() *handle[C.guf_graph] {
	if g == nil {
		return nil
	}
	return &g.ref
}

func (g *Graph) handle() C.guf_graph { return g.reference().value() }

// Launch queues the graph's work on a stream of its device. Launches of the same graph run one
// after another.
func (g *Graph) Launch(s *Stream) error {
	defer runtime.KeepAlive(g)
	defer runtime.KeepAlive(s)
	return cGraphLaunch(g.handle(), s.handle())
}

// String returns the kind of the object.
func (g *Graph) String() string { return g.reference().kind("graph") }

// Clone returns another reference to the same graph. The caller closes it separately.
func (g *Graph) Clone() (*Graph, error) {
	return another(g, cGraphRetain, ownGraph)
}

// Close releases the reference; pending launches complete. Further calls do nothing.
func (g *Graph) Close() error { return g.reference().close() }
