// SPDX-License-Identifier: Apache-2.0

package gufunc_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.org/gufunc"
)

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
