// SPDX-License-Identifier: Apache-2.0

package gufunc_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/gufunc"
)

func TestStreamsAndEvents(t *testing.T) {
	background := context.Background()
	add := gufunc.MustFind("add")
	for _, d := range devices(t) {
		s := must(d.NewStream())(t)
		if got := must(s.Device())(t); got != d {
			t.Fatalf("expected %v, got %v", d, got)
		}
		a := must(must(gufunc.Of([]float32{1, 2, 3}))(t).ToDevice(d, s))(t)
		e := must(d.NewEvent())(t)
		if !must(e.Query())(t) {
			t.Fatal("an event that was not recorded is not complete")
		}
		other := must(d.NewStream())(t)
		check(t, e.Record(s))
		check(t, other.WaitEvent(e))
		b := must(gufunc.Call[float32](add, &gufunc.CallOptions{Stream: other}, a, a))(t)
		check(t, e.Record(other))
		check(t, e.Wait(background))
		check(t, other.Synchronize(background))
		check(t, s.Synchronize(background))
		if !must(s.Query())(t) {
			t.Fatal("a synchronized stream is not done")
		}
		got := make([]float32, 3)
		check(t, b.CopyToHost(got, other))
		equal(t, got, []float32{2, 4, 6})
		later := must(d.NewEvent())(t)
		check(t, later.Record(other))
		check(t, later.Wait(background))
		_, ok, err := e.Elapsed(later)
		if !errors.Is(err, gufunc.ErrUnsupported) && (err != nil || !ok) {
			t.Fatal(ok, err)
		}
		_, err = s.Native(d)
		if err != nil {
			wantStatus(t, err, gufunc.ErrUnsupported)
		}
		check(t, d.Synchronize(background))
		for _, object := range []interface{ Close() error }{s, other, e, later, a, b} {
			check(t, object.Close())
		}
	}
}

// A loop that waits blocks the stream. When a context ends a wait for the stream, the work is not
// lost.
func TestContextsEndWaits(t *testing.T) {
	guard := time.AfterFunc(60*time.Second, func() { panic("a wait does not end") })
	defer guard.Stop()
	cpu := must(gufunc.FindDevice("cpu"))(t)
	own := must(gufunc.NewContext())(t)
	u := must(own.Create(gufunc.UfuncDesc{Name: "held", NIn: 1, NOut: 1}))(t)
	gate := make(chan struct{})
	check(t, u.AddLoop([]gufunc.DType{gufunc.Float64, gufunc.Float64}, gufunc.AnyThread,
		func(l *gufunc.LoopArgs) error {
			<-gate
			for i := range l.Items() {
				*gufunc.Item[float64](l, 1, i, 0) = 1 + *gufunc.Item[float64](l, 0, i, 0)
			}
			return nil
		}))
	s := must(cpu.NewStream())(t)
	e := must(cpu.NewEvent())(t)
	a := must(gufunc.Full(cpu, 1.0, 1<<20))(t)
	out := must(gufunc.Alloc[float64](cpu, 1<<20))(t)
	must(u.Call(&gufunc.CallOptions{Stream: s, Out: []gufunc.Operand{out}}, a))(t)
	check(t, e.Record(s))
	if must(s.Query())(t) || must(e.Query())(t) {
		t.Fatal("done while the loop waits")
	}
	begin := time.Now()
	short, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	for _, wait := range []func(context.Context) error{s.Synchronize, e.Wait, out.Synchronize} {
		if err := wait(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	if late := time.Since(begin); late > 2*time.Second {
		t.Fatalf("the wait ended after %v", late)
	}
	var group sync.WaitGroup
	group.Add(1)
	go func() {
		defer group.Done()
		if err := e.Wait(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	close(gate)
	long, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	check(t, out.Synchronize(long))
	if data := must(out.Data())(t); data[0] != 2 || data[1<<20-1] != 2 {
		t.Fatal(data[0])
	}
	check(t, s.Synchronize(long))
	group.Wait()
	if got := must(out.Values())(t); got[0] != 2 || got[1<<20-1] != 2 {
		t.Fatal(got[0])
	}
}

// A failure of queued work is reported once, by a wait that completes. A wait that a context ended
// does not report the failure.
func TestStreamsReportTheirFailureOnce(t *testing.T) {
	cpu := must(gufunc.FindDevice("cpu"))(t)
	s := must(cpu.NewStream())(t)
	a := must(gufunc.Of([]int64{2, 3}))(t)
	out := must(gufunc.Alloc[int64](cpu, 2))(t)
	power := gufunc.MustFind("power")
	minus := must(gufunc.Of([]int64{-1, -1}))(t)
	options := gufunc.CallOptions{Stream: s, Out: []gufunc.Operand{out}}
	_, err := power.Call(&options, a, minus)
	if err == nil {
		err = s.Synchronize(context.Background())
	}
	wantStatus(t, err, gufunc.ErrValue)
	check(t, s.Synchronize(context.Background()))
}

func TestGraphs(t *testing.T) {
	background := context.Background()
	add := gufunc.MustFind("add")
	for _, d := range devices(t) {
		s := must(d.NewStream())(t)
		err := s.BeginCapture()
		if errors.Is(err, gufunc.ErrUnsupported) {
			continue // the cpu has no graphs
		}
		check(t, err)
		_, err = gufunc.Alloc[float32](d, 4)
		check(t, err)
		wantStatus(t, s.Synchronize(background), gufunc.ErrCapture)
		check(t, must(s.EndCapture())(t).Close())

		total := must(gufunc.Full[float32](d, 0, 4))(t)
		one := must(gufunc.Full[float32](d, 1, 4))(t)
		check(t, d.Synchronize(background))
		options := gufunc.CallOptions{Stream: s, Out: []gufunc.Operand{total}}
		must(add.Call(&options, total, one))(t)
		check(t, s.Synchronize(background))
		check(t, s.BeginCapture())
		must(add.Call(&options, total, one))(t)
		graph := must(s.EndCapture())(t)
		for range 5 {
			check(t, graph.Launch(s))
		}
		check(t, s.Synchronize(background))
		equal(t, must(total.Values())(t), []float32{6, 6, 6, 6})
		check(t, s.BeginCapture())
		must(add.Call(&options, total, gufunc.Float(10)))(t)
		check(t, s.EndCaptureInto(graph))
		check(t, graph.Launch(s))
		check(t, s.Synchronize(background))
		equal(t, must(total.Values())(t), []float32{16, 16, 16, 16})
		check(t, must(graph.Clone())(t).Close())
		check(t, graph.Close())
	}
}

func TestDevicesAndBackends(t *testing.T) {
	backends := must(gufunc.Backends(true))(t)
	if len(backends) == 0 {
		t.Fatal("no backend")
	}
	for _, b := range backends {
		if b.Name == "cpu" && (b.State != nil || b.Devices != 1) {
			t.Fatal(b)
		}
	}
	for _, d := range devices(t) {
		info := must(d.Info())(t)
		if info.Spec != d.String() || info.Units == 0 || info.Backend == "" {
			t.Fatal(info)
		}
	}
	_, err := gufunc.FindDevice("nowhere:0")
	wantStatus(t, err, gufunc.ErrNoBackend)
	_, err = gufunc.FindDevice("cpu:9")
	wantStatus(t, err, gufunc.ErrNoDevice)
	wantStatus(t, gufunc.LoadBackend("relative.so"), gufunc.ErrArg)
	_, err = gufunc.AdoptDevice("cpu", 1)
	wantStatus(t, err, gufunc.ErrUnsupported)
	cpu := must(gufunc.FindDevice("cpu"))(t)
	_, err = cpu.AdoptStream(1)
	wantStatus(t, err, gufunc.ErrUnsupported)
	for {
		if _, _, ok := gufunc.ReadLog(); !ok {
			break
		}
	}
}

func TestHostMemory(t *testing.T) {
	for _, d := range devices(t) {
		for _, kind := range []gufunc.HostMemory{gufunc.Pinned, gufunc.Mapped, gufunc.Managed} {
			a, err := gufunc.AllocHost[int32](d, kind, 16)
			if errors.Is(err, gufunc.ErrUnsupported) {
				continue
			}
			check(t, err)
			data := must(a.Data())(t)
			data[5] = 5
			equal(t, must(a.Values())(t), data)
			a.KeepAlive()
			check(t, a.Close())
		}
		data := make([]float64, 4096)
		r := must(gufunc.RegisterHost(d, data))(t)
		check(t, r.Close())
		check(t, r.Close())
		if memory, err := d.Memory(); err == nil && memory.Total == 0 {
			t.Fatal(memory)
		}
		if err := d.TrimMemory(0); err != nil {
			wantStatus(t, err, gufunc.ErrUnsupported)
		}
	}
}

// heldBy returns a ufunc that adds 1. If the gate contains a channel, the ufunc's loop first waits
// until this channel is closed.
func heldBy(t *testing.T, gate *atomic.Pointer[chan struct{}]) *gufunc.Ufunc {
	own := must(gufunc.NewContext())(t)
	u := must(own.Create(gufunc.UfuncDesc{Name: "held", NIn: 1, NOut: 1}))(t)
	check(t, u.AddLoop([]gufunc.DType{gufunc.Float64, gufunc.Float64}, gufunc.AnyThread,
		func(l *gufunc.LoopArgs) error {
			<-*gate.Load()
			for i := range l.Items() {
				*gufunc.Item[float64](l, 1, i, 0) = 1 + *gufunc.Item[float64](l, 0, i, 0)
			}
			return nil
		}))
	return u
}

// Every function that reads an array waits for the stream that writes it.
func TestReadingWaitsForStreams(t *testing.T) {
	const size = 1 << 18 // a call with less work is not queued
	var gate atomic.Pointer[chan struct{}]
	u := heldBy(t, &gate)
	cpu := must(gufunc.FindDevice("cpu"))(t)
	s := must(cpu.NewStream())(t)
	for name, read := range map[string]func(a *gufunc.Array[float64]) []float64{
		"Values": func(a *gufunc.Array[float64]) []float64 { return must(a.Values())(t) },
		"Data":   func(a *gufunc.Array[float64]) []float64 { return must(a.Data())(t) },
		"Structs": func(a *gufunc.Array[float64]) []float64 {
			return must(gufunc.Structs[float64](a.Any()))(t)
		},
		"of a view": func(a *gufunc.Array[float64]) []float64 {
			return must(must(a.Reshape(2, size/2))(t).Data())(t)
		},
		"CopyToHost": func(a *gufunc.Array[float64]) []float64 {
			values := make([]float64, size)
			check(t, a.CopyToHost(values, nil))
			return values
		},
		"String": func(a *gufunc.Array[float64]) []float64 {
			if text := a.String(); !strings.HasPrefix(text, "[2. 2. 2. ... 2. 2. 2.]") {
				t.Errorf("printed: %s", text)
			}
			return []float64{2, 2}
		},
	} {
		a := must(gufunc.Full(cpu, 1.0, size))(t)
		out := must(gufunc.Full(cpu, 0.0, size))(t)
		closed := make(chan struct{})
		gate.Store(&closed)
		must(u.Call(&gufunc.CallOptions{Stream: s, Out: []gufunc.Operand{out}}, a))(t)
		if must(s.Query())(t) {
			t.Fatal("the work is done behind a closed gate")
		}
		time.AfterFunc(20*time.Millisecond, func() { close(closed) })
		if got := read(out); got[0] != 2 || got[len(got)-1] != 2 {
			t.Errorf("%s: %v, %v", name, got[0], got[len(got)-1])
		}
		check(t, s.Synchronize(nil))
		out.KeepAlive()
	}
}

// Values waits for the stream on which a device writes the array.
func TestReadingWaitsForDevices(t *testing.T) {
	const size = 1 << 20
	for _, d := range devices(t) {
		s := must(d.NewStream())(t)
		square := gufunc.MustFind("square")
		a, out := must(gufunc.Full(d, 3.0, size))(t), must(gufunc.Full(d, 0.0, size))(t)
		check(t, d.Synchronize(nil))
		options := gufunc.CallOptions{Stream: s, Out: []gufunc.Operand{out}}
		for range 4 {
			must(square.Call(&options, a))(t)
		}
		if got := must(out.Values())(t); got[0] != 9 || got[size-1] != 9 {
			t.Errorf("%v: %v, %v", d, got[0], got[size-1])
		}
		check(t, s.Synchronize(nil))
	}
}
