// SPDX-License-Identifier: Apache-2.0

package gufunc_test

import (
	"context"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"example.org/gufunc"
	"example.org/gufunc/internal/tensors"
)

// placed returns a tensor over an array of the test.
func placed(t *testing.T, a *gufunc.AnyArray) tensors.Tensor {
	managed := must(a.ToDLPack(nil))(t)
	defer gufunc.DeleteDLPack(managed, nil)
	return tensors.Look(managed, false)
}

// deleted returns how often the deleter has run, once the device is idle.
func deleted(t *testing.T, d gufunc.Device, p tensors.Producer) int {
	check(t, d.Synchronize(context.Background()))
	must(gufunc.Poll(0))(t)
	return p.Deleted()
}

func wantDeleted(t *testing.T, d gufunc.Device, p tensors.Producer, expected int) {
	t.Helper()
	if got := deleted(t, d, p); got != expected {
		t.Fatalf("calls of the deleter: expected %d, got %d", expected, got)
	}
}

// onEach runs a test on every device with both DLPack structures. The tensor has the elements 1 to
// 6.
func onEach(t *testing.T, run func(d gufunc.Device, memory *gufunc.Array[float64],
	from tensors.Tensor, options *gufunc.DLPackOptions)) {
	for _, d := range devices(t) {
		for _, unversioned := range []bool{false, true} {
			host := must(gufunc.Of([]float64{1, 2, 3, 4, 5, 6}, 2, 3))(t)
			memory := must(host.ToDevice(d, nil))(t)
			check(t, d.Synchronize(context.Background()))
			run(d, memory, placed(t, memory.Any()), &gufunc.DLPackOptions{Unversioned: unversioned})
			memory.Close()
		}
	}
}

func TestTensorsAreTakenOnce(t *testing.T) {
	add := gufunc.MustFind("add")
	onEach(t, func(d gufunc.Device, memory *gufunc.Array[float64], from tensors.Tensor,
		options *gufunc.DLPackOptions) {
		p := tensors.New(from, 1)
		a := must(gufunc.FromDLPack(p.Managed(options.Unversioned), options))(t)
		if a.Device() != d {
			t.Fatalf("expected %v, got %v", d, a.Device())
		}
		typed := must(gufunc.As[float64](a))(t)
		equal(t, must(typed.Values())(t), []float64{1, 2, 3, 4, 5, 6})
		column := must(typed.Slice(gufunc.All(), gufunc.From(2)))(t)
		check(t, a.Close())
		check(t, a.Close())
		wantDeleted(t, d, p, 0)
		check(t, add.CallInto(column, column, gufunc.Int(10)))
		check(t, column.Close())
		wantDeleted(t, d, p, 1)
		equal(t, must(memory.Values())(t), []float64{1, 2, 13, 4, 5, 16})
	})
}

func TestTensorsAreTakenOnFailure(t *testing.T) {
	onEach(t, func(d gufunc.Device, memory *gufunc.Array[float64], from tensors.Tensor,
		options *gufunc.DLPackOptions) {
		closed := must(d.NewStream())(t)
		check(t, closed.Close())
		pairs, ours := from, from
		pairs.DType = 0x00024002 // a dtype with two float64 per element
		for _, wrong := range []struct {
			status  gufunc.Status
			from    tensors.Tensor
			major   uint32
			stream  *gufunc.Stream
			foreign gufunc.ForeignStream
		}{
			{gufunc.ErrDType, pairs, 1, nil, 0},
			{gufunc.ErrABI, ours, 2, nil, 0},
			{gufunc.ErrArg, ours, 1, nil, 3},
			{gufunc.ErrHandle, ours, 1, closed, 0},
			{gufunc.ErrArg, ours, 1, nil, gufunc.LegacyStream}, // no stream is allowed for host memory
		} {
			if options.Unversioned && wrong.major != 1 ||
				wrong.foreign == gufunc.LegacyStream && from.DeviceType != tensors.CPU {
				continue
			}
			p := tensors.New(wrong.from, wrong.major)
			given := *options
			given.Stream, given.Foreign = wrong.stream, wrong.foreign
			_, err := gufunc.FromDLPack(p.Managed(options.Unversioned), &given)
			wantStatus(t, err, wrong.status)
			wantDeleted(t, d, p, 1)
		}
		_, err := gufunc.FromDLPack(nil, options)
		wantStatus(t, err, gufunc.ErrArg)
	})
}

func TestCollectorReleasesTensors(t *testing.T) {
	onEach(t, func(d gufunc.Device, memory *gufunc.Array[float64], from tensors.Tensor,
		options *gufunc.DLPackOptions) {
		p := tensors.New(from, 1)
		func() { must(gufunc.FromDLPack(p.Managed(options.Unversioned), options))(t) }()
		for range 100 {
			runtime.GC()
			time.Sleep(time.Millisecond)
			if deleted(t, d, p) == 1 {
				return
			}
		}
		t.Fatal("the tensor is never deleted")
	})
}

func TestTensorsOfArrays(t *testing.T) {
	onEach(t, func(d gufunc.Device, memory *gufunc.Array[float64], from tensors.Tensor,
		options *gufunc.DLPackOptions) {
		given := *options
		given.Copied = true
		view := must(memory.Slice(gufunc.All().By(-1), gufunc.All().By(2)))(t)
		managed := must(view.ToDLPack(&given))(t)
		check(t, view.Close())
		seen := tensors.Look(managed, options.Unversioned)
		if seen.Address != from.Address+24 || !options.Unversioned && seen.Flags != tensors.IsCopied {
			t.Fatalf("%+v", seen)
		}
		equal(t, seen.Shape, []int64{2, 2})
		equal(t, seen.Strides, []int64{-3, 2})
		back := must(gufunc.FromDLPack(managed, options))(t)
		values := must(gufunc.As[float64](back))(t)
		equal(t, must(values.Values())(t), []float64{4, 6, 1, 3})
		check(t, back.Close())
		closed := must(memory.Clone())(t)
		check(t, closed.Close())
		_, err := closed.ToDLPack(options)
		wantStatus(t, err, gufunc.ErrHandle)
	})
	gufunc.DeleteDLPack(nil, nil)
}

// A Go slice stays alive as long as a tensor over it.
func TestTensorsKeepSlices(t *testing.T) {
	managed := func() unsafe.Pointer {
		data := make([]int32, 1<<16)
		data[1<<16-1] = 7
		return must(must(gufunc.Of(data))(t).ToDLPack(nil))(t)
	}()
	for range 3 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	back := must(gufunc.As[int32](must(gufunc.FromDLPack(managed, nil))(t)))(t)
	if got := must(back.Values())(t)[1<<16-1]; got != 7 {
		t.Fatal(got)
	}
	check(t, back.Close())
}

func TestReadOnlyTensors(t *testing.T) {
	data := must(gufunc.Of(make([]float64, 6)))(t)
	from := placed(t, data.Any())
	from.Flags = tensors.ReadOnly
	p := tensors.New(from, 1)
	a := must(gufunc.FromDLPack(p.Managed(false), nil))(t)
	wantStatus(t, a.Fill(gufunc.Float(1), nil), gufunc.ErrReadOnly)
	managed := must(a.ToDLPack(nil))(t)
	if seen := tensors.Look(managed, false); seen.Flags != tensors.ReadOnly {
		t.Fatalf("%+v", seen)
	}
	gufunc.DeleteDLPack(managed, nil)
	_, err := a.ToDLPack(&gufunc.DLPackOptions{Unversioned: true})
	wantStatus(t, err, gufunc.ErrReadOnly)
	check(t, a.Close())
	wantDeleted(t, must(gufunc.FindDevice("cpu"))(t), p, 1)
	data.KeepAlive()
}

// Tensors are ordered with the stream that fills the memory and the stream that reads it.
func TestStreamsOfTensors(t *testing.T) {
	add := gufunc.MustFind("add")
	onEach(t, func(d gufunc.Device, memory *gufunc.Array[float64], from tensors.Tensor,
		options *gufunc.DLPackOptions) {
		if from.DeviceType == tensors.CPU {
			return
		}
		filler, reader := must(d.NewStream())(t), must(d.NewStream())(t)
		sums := must(gufunc.Alloc[float64](d, 2, 3))(t)
		check(t, memory.Fill(gufunc.Float(7), filler))
		p := tensors.New(from, 1)
		given := *options
		given.Stream = filler
		a := must(gufunc.FromDLPack(p.Managed(options.Unversioned), &given))(t)
		check(t, add.CallInto(sums, a, a))
		equal(t, must(sums.Values())(t), []float64{14, 14, 14, 14, 14, 14})
		check(t, a.Close())
		wantDeleted(t, d, p, 1)
		for _, stream := range []gufunc.DLPackOptions{{Stream: reader},
			{Foreign: gufunc.LegacyStream}, {Foreign: gufunc.PerThreadStream}} {
			stream.Unversioned = options.Unversioned
			gufunc.DeleteDLPack(must(sums.ToDLPack(&stream))(t), &stream)
		}
		given.Stream = must(must(gufunc.FindDevice("cpu"))(t).NewStream())(t)
		_, err := sums.ToDLPack(&given)
		wantStatus(t, err, gufunc.ErrDeviceMismatch)
	})
}
