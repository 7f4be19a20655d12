// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "zcalls.h"
import "C"

import (
	"context"
	"runtime"
)

// Stream is an in-order queue of a device's work. A nil *Stream stands for none: a call is then
// complete on return on the cpu, and in the device's own order elsewhere. Streams may be used from
// any goroutine. A stream keeps the first failure of its work until Synchronize reports it.
type Stream struct{ ref handle[C.guf_stream] }

// NewStream makes a stream on the device. Pending work completes even if the stream is closed.
func (d Device) NewStream() (*Stream, error) {
	var made C.guf_stream
	if err := cStreamCreate(d.c, 0, &made); err != nil {
		return nil, err
	}
	return ownStream(made), nil
}

// AdoptStream makes a stream of a CUstream or hipStream_t, which stays the program's and has to
// outlive it.
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

// String is "stream of cuda:0".
func (s *Stream) String() string {
	d, err := s.Device()
	if err != nil {
		return "no stream"
	}
	return "stream of " + d.String()
}

// Clone is another reference to the same stream, to be closed on its own.
func (s *Stream) Clone() (*Stream, error) {
	return another(s, cStreamRetain, ownStream)
}

// Close gives the reference back; a second time it does nothing. It waits for nothing.
func (s *Stream) Close() error { return s.reference().close() }

// Device is the stream's device.
func (s *Stream) Device() (Device, error) {
	defer runtime.KeepAlive(s)
	var d Device
	err := cStreamGetDevice(s.handle(), &d.c)
	return d, err
}

// Native is the vendor's handle (CUstream, hipStream_t), borrowed; of a nil *Stream that of the
// device's own order. ErrUnsupported on the cpu.
func (s *Stream) Native(d Device) (uintptr, error) {
	defer runtime.KeepAlive(s)
	var native C.uint64_t
	err := cStreamGetNative(d.c, s.handle(), &native)
	return uintptr(native), err
}

// Query reports whether all queued work is done. It reports no failure of the work.
func (s *Stream) Query() (bool, error) {
	defer runtime.KeepAlive(s)
	return done(cStreamQuery(s.handle()))
}

// Synchronize waits until everything queued so far is done, then returns the stream's first failure
// since the last report. It returns ctx's error when that ends first: the work goes on, and nothing
// is reported or lost.
func (s *Stream) Synchronize(ctx context.Context) error {
	defer runtime.KeepAlive(s)
	return wait(ctx, func(limit C.uint64_t) error {
		return cStreamSynchronize(s.handle(), limit)
	})
}

// WaitEvent makes later work of the stream wait for the event; it returns at once.
func (s *Stream) WaitEvent(e *Event) error {
	defer runtime.KeepAlive(s)
	defer runtime.KeepAlive(e)
	return cStreamWaitEvent(s.handle(), e.handle())
}

// BeginCapture makes what is queued on the stream be recorded instead of run, until EndCapture:
// launches of plans, calls and copies on the device that allocate nothing, events. Everything else
// fails with ErrCapture, which ends nothing. ErrUnsupported on the cpu.
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

// EndCaptureInto ends a capture and replaces the graph's work by it.
func (s *Stream) EndCaptureInto(g *Graph) error {
	defer runtime.KeepAlive(s)
	defer runtime.KeepAlive(g)
	existing := g.handle()
	if existing == nil {
		return &Error{ErrHandle, "no graph to replace the work of", -1, -1, 0}
	}
	return cStreamEndCapture(s.handle(), &existing)
}

// Event is a mark in a stream.
type Event struct{ ref handle[C.guf_event] }

// NewEvent makes an event of the device. It is complete until it is recorded.
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

// String tells only what it is.
func (e *Event) String() string { return e.reference().kind("event") }

// Clone is another reference to the same event, to be closed on its own.
func (e *Event) Clone() (*Event, error) {
	return another(e, cEventRetain, ownEvent)
}

// Close gives the reference back; a second time it does nothing.
func (e *Event) Close() error { return e.reference().close() }

// Record marks the present end of the stream. A second record moves the mark.
func (e *Event) Record(s *Stream) error {
	defer runtime.KeepAlive(e)
	defer runtime.KeepAlive(s)
	return cEventRecord(e.handle(), s.handle())
}

// Query reports whether the mark is reached; the stream's failure if it had failed before it.
func (e *Event) Query() (bool, error) {
	defer runtime.KeepAlive(e)
	return done(cEventQuery(e.handle()))
}

// Wait waits for the mark, or until ctx ends, whose error it then returns.
func (e *Event) Wait(ctx context.Context) error {
	defer runtime.KeepAlive(e)
	return wait(ctx, func(limit C.uint64_t) error { return cEventWait(e.handle(), limit) })
}

// Elapsed is the time from this event to another one of the device, in milliseconds; ok is false
// while one of them is not complete. ErrUnsupported on the cpu.
func (e *Event) Elapsed(to *Event) (milliseconds float64, ok bool, err error) {
	defer runtime.KeepAlive(e)
	defer runtime.KeepAlive(to)
	var found C.double
	ok, err = done(cEventElapsed(e.handle(), to.handle(), &found))
	return float64(found), ok, err
}

// Graph is work of a stream, captured once and launched many times, each time as one.
type Graph struct{ ref handle[C.guf_graph] }

func ownGraph(c C.guf_graph) *Graph { return owner[Graph](c, cGraphRelease) }

func (g *Graph) reference() *handle[C.guf_graph] {
	if g == nil {
		return nil
	}
	return &g.ref
}

func (g *Graph) handle() C.guf_graph { return g.reference().value() }

// Launch queues the graph's work on a stream of its device. Launches of one graph follow each
// other.
func (g *Graph) Launch(s *Stream) error {
	defer runtime.KeepAlive(g)
	defer runtime.KeepAlive(s)
	return cGraphLaunch(g.handle(), s.handle())
}

// String tells only what it is.
func (g *Graph) String() string { return g.reference().kind("graph") }

// Clone is another reference to the same graph, to be closed on its own.
func (g *Graph) Clone() (*Graph, error) {
	return another(g, cGraphRetain, ownGraph)
}

// Close gives the reference back; launches under way go on. A second time it does nothing.
func (g *Graph) Close() error { return g.reference().close() }
