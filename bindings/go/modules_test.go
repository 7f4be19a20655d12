// SPDX-License-Identifier: Apache-2.0

package gufunc_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.org/gufunc"
)

// module returns the path of a module of the examples, in the folder GUFUNC_TEST_MODULES.
func module(t *testing.T, name string) string {
	folder := os.Getenv("GUFUNC_TEST_MODULES")
	if folder == "" {
		t.Skip("GUFUNC_TEST_MODULES is not set")
	}
	return filepath.Join(folder, name+".so")
}

func TestModules(t *testing.T) {
	path := module(t, "discriminant")
	own := must(gufunc.NewContext())(t)
	defer own.Close()
	m := must(own.LoadModule(path, false))(t)
	info := must(m.Info())(t)
	if info.Name != "discriminant" || info.Path != path || info.Functions != 1 || info.DataOnly {
		t.Fatal(info)
	}
	equal(t, must(m.Functions())(t), []string{"discriminant:discriminant"})
	u := must(own.Find("discriminant"))(t)
	x := must(gufunc.Call[float64](u, nil, gufunc.Scalar(1.0), gufunc.Float(5), gufunc.Int(4)))(t)
	equal(t, must(x.Values())(t), []float64{3})
	f8 := []gufunc.DType{gufunc.Float64, gufunc.Float64, gufunc.Float64, gufunc.Float64}
	mine := must(own.Create(gufunc.UfuncDesc{Name: "mine", NIn: 3, NOut: 1}))(t)
	check(t, mine.AddModuleLoop(m, "discriminant", f8))
	wantStatus(t, mine.AddModuleLoop(m, "other", f8), gufunc.ErrNotFound)
	check(t, must(m.Clone())(t).Close())
	check(t, m.Close())
	x = must(gufunc.Call[float64](mine, nil, gufunc.Scalar(1.0), gufunc.Float(5), gufunc.Int(4)))(t)
	equal(t, must(x.Values())(t), []float64{3})
	_, err := own.LoadModule("nowhere.so", false)
	failed := wantStatus(t, err, gufunc.ErrIO)
	if failed.NativeCode == 0 {
		t.Fatal("no code of the operating system", failed)
	}
	_, err = own.LoadModule(os.Args[0], false)
	wantStatus(t, err, gufunc.ErrBadFile)
}

func TestRawKernels(t *testing.T) {
	path := module(t, "raw_counting")
	own := must(gufunc.NewContext())(t)
	defer own.Close()
	m := must(own.LoadModule(path, false))(t)
	defer m.Close()
	names := must(m.Kernels())(t)
	if !slices.Contains(names, "histogram") {
		t.Fatal(names)
	}
	k := must(m.Kernel("histogram"))(t)
	info := must(k.Info())(t)
	if info.Name != "raw_counting:histogram" || info.Parameters != 2 || !info.Synchronizes {
		t.Fatal(info)
	}
	parameter := must(k.Parameter(0))(t)
	want := gufunc.Parameter{Kind: gufunc.View, DType: gufunc.Float32, NDim: 1, ReadOnly: true}
	if parameter != want {
		t.Fatal(parameter)
	}
	_, err := k.Parameter(2)
	wantStatus(t, err, gufunc.ErrIndex)
	_, err = m.Kernel("none")
	wantStatus(t, err, gufunc.ErrNotFound)
	values := []float32{.05, .15, .12, .95, .99, .91, .5}
	for _, d := range devices(t) {
		if about := must(k.DeviceInfo(d))(t); about.MaxThreads < 64 {
			t.Fatal(about)
		}
		s := must(d.NewStream())(t)
		given := must(must(gufunc.Of(values))(t).ToDevice(d, s))(t)
		bins := must(gufunc.Alloc[uint64](d, 10))(t)
		check(t, bins.Fill(gufunc.Int(0), s))
		options := gufunc.KernelOptions{Stream: s, SharedBytes: 40}
		check(t, k.Launch(&options, gufunc.D1(2), gufunc.D1(32), given, bins))
		check(t, s.Synchronize(context.Background()))
		equal(t, must(bins.Values())(t), []uint64{1, 2, 0, 0, 0, 1, 0, 0, 0, 3})
		err := k.Launch(&options, gufunc.D2(1, 1), gufunc.D3(1, 1, 1), given)
		wantStatus(t, err, gufunc.ErrArg)
		wantStatus(t, k.Launch(&options, gufunc.D1(1), gufunc.D1(32), bins, bins), gufunc.ErrDType)
	}
	check(t, must(k.Clone())(t).Close())
	check(t, k.Close())
}

func TestPlans(t *testing.T) {
	add := gufunc.MustFind("add")
	for _, d := range devices(t) {
		a := must(gufunc.Full[float64](d, 1, 50))(t)
		b := must(gufunc.Full[float64](d, 2, 50))(t)
		out := must(gufunc.Alloc[float64](d, 50))(t)
		check(t, d.Synchronize(context.Background()))
		p := must(add.NewPlan(&gufunc.CallOptions{Out: []gufunc.Operand{out}}, a, b))(t)
		if bytes, _, err := p.Workspace(); bytes != 0 || err != nil {
			t.Fatal(bytes, err)
		}
		var group sync.WaitGroup
		for range 4 {
			mine := must(gufunc.Alloc[float64](d, 50))(t)
			group.Add(1)
			go func() {
				defer group.Done()
				s, err := d.NewStream()
				if err == nil {
					err = p.Launch(&gufunc.LaunchOptions{Stream: s}, a, b, mine)
				}
				if err == nil {
					err = s.Synchronize(context.Background())
				}
				values, failed := mine.Values()
				if err != nil || failed != nil || values[49] != 3 {
					t.Error(err, failed, values)
				}
			}()
		}
		group.Wait()
		wantStatus(t, p.Launch(nil, a, b), gufunc.ErrArg)
		wantStatus(t, p.Launch(nil, a, b, must(b.Slice(gufunc.From(1)))(t), b), gufunc.ErrArg)
		if text := must(p.Explain())(t); !strings.Contains(text, "float64") {
			t.Fatal(text)
		}
		check(t, must(p.Clone())(t).Close())
		check(t, p.Close())
	}
	// An input that overlaps the output is staged in a workspace.
	data := must(gufunc.Of([]float64{1, 2, 3, 4}))(t)
	from, to := must(data.Slice(gufunc.Until(3)))(t), must(data.Slice(gufunc.From(1)))(t)
	options := gufunc.CallOptions{Out: []gufunc.Operand{to}}
	p := must(gufunc.MustFind("negative").NewPlan(&options, from))(t)
	bytes, _, err := p.Workspace()
	check(t, err)
	if bytes > 0 {
		wantStatus(t, p.Launch(nil, from, to), gufunc.ErrArg)
	}
	buffer := must(gufunc.Alloc[uint8](gufunc.Device{}, bytes+64))(t)
	check(t, p.Launch(&gufunc.LaunchOptions{Workspace: buffer.Any()}, from, to))
	equal(t, must(data.Values())(t), []float64{1, -1, -2, -3})
}

func TestChunkedCalls(t *testing.T) {
	background := context.Background()
	const size = 50_000
	a := must(gufunc.Of(count(size)))(t)
	result := make([]float64, size)
	out := must(gufunc.Of(result))(t)
	negative := gufunc.MustFind("negative")
	for _, d := range devices(t) {
		clear(result)
		options := gufunc.CallOptions{Device: d, Out: []gufunc.Operand{out}}
		ctx, cancel := context.WithCancel(background)
		calls := 0
		chunks := gufunc.ChunkOptions{ChunkBytes: 16384, Progress: func(done, items int) bool {
			if calls++; calls == 3 {
				cancel()
			}
			return true
		}}
		items, err := negative.CallChunked(ctx, &options, &chunks, a)
		if !errors.Is(err, context.Canceled) || !errors.Is(err, gufunc.ErrCancelled) {
			t.Fatal(err)
		}
		if items == 0 || items >= size || result[items-1] != -float64(items-1) {
			t.Fatal(items)
		}
		_, err = negative.CallChunked(ctx, &options, &chunks, a)
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		chunks.FirstItem = items
		items, err = negative.CallChunked(background, &options, &chunks, a)
		check(t, err)
		if items != size || result[size-1] != 1-size {
			t.Fatal(items)
		}
		stop := gufunc.ChunkOptions{ChunkBytes: 16384, Progress: func(int, int) bool { return false }}
		_, err = negative.CallChunked(background, &options, &stop, a)
		wantStatus(t, err, gufunc.ErrCancelled)
		tooDeep := gufunc.ChunkOptions{Depth: 99}
		_, err = negative.CallChunked(background, &options, &tooDeep, a)
		wantStatus(t, err, gufunc.ErrArg)
	}
	defer func() {
		if recover() != "in progress" {
			t.Fatal("the panic is lost")
		}
	}()
	panics := gufunc.ChunkOptions{Progress: func(int, int) bool { panic("in progress") }}
	negative.CallChunked(background, &gufunc.CallOptions{Out: []gufunc.Operand{out}}, &panics, a)
}

func TestMethods(t *testing.T) {
	for _, d := range devices(t) {
		a := must(gufunc.Of(count(6), 2, 3))(t)
		add := gufunc.MustFind("add")
		rows := &gufunc.ReduceOptions{Axes: []int{-1}, KeepDims: true, Device: d}
		sums := must(gufunc.As[float64](must(add.Reduce(rows, a))(t)))(t)
		equal(t, sums.Shape(), []int{2, 1})
		equal(t, must(sums.Values())(t), []float64{3, 12})
		all := &gufunc.ReduceOptions{AllAxes: true, Initial: gufunc.Float(100), Device: d,
			Where: must(gufunc.Of([]bool{true, false, true}))(t)}
		total := must(gufunc.As[float64](must(add.Reduce(all, a))(t)))(t)
		equal(t, must(total.Values())(t), []float64{110})
		_, err := gufunc.MustFind("maximum").Reduce(&gufunc.ReduceOptions{Device: d},
			must(gufunc.Of([]float64{}))(t))
		wantStatus(t, err, gufunc.ErrValue)
		running := must(gufunc.Alloc[float64](gufunc.Device{}, 2, 3))(t)
		acc := &gufunc.AccumulateOptions{Axis: 1, Out: running, Device: d}
		must(add.Accumulate(acc, a))(t)
		equal(t, must(running.Values())(t), []float64{0, 1, 3, 3, 7, 12})
		starts := must(gufunc.Of([]int{0, 2}))(t)
		parts := must(add.Reduceat(&gufunc.AccumulateOptions{Axis: 1, Device: d}, a, starts))(t)
		equal(t, must(must(gufunc.As[float64](parts))(t).Values())(t), []float64{1, 2, 7, 5})
		table := must(gufunc.MustFind("multiply").Outer(&gufunc.CallOptions{Device: d},
			must(gufunc.Of([]int32{1, 2}))(t), must(gufunc.Of([]int32{3, 4}))(t)))(t)
		equal(t, must(must(gufunc.As[int32](table[0]))(t).Values())(t), []int32{3, 4, 6, 8})
		counts := must(gufunc.Of([]int64{0, 0, 0}))(t)
		indices := []gufunc.Operand{must(gufunc.Of([]int{2, 0, 2}))(t)}
		check(t, add.At(&gufunc.AtOptions{Device: d}, counts, indices, gufunc.Int(1)))
		equal(t, must(counts.Values())(t), []int64{1, 0, 2})
		outside := []gufunc.Operand{must(gufunc.Of([]int{3}))(t)}
		err = add.At(&gufunc.AtOptions{Device: d}, counts, outside, gufunc.Int(1))
		wantStatus(t, err, gufunc.ErrIndex)

		texts := []string{must(add.ExplainReduce(rows, a))(t),
			must(add.ExplainAccumulate(acc, a))(t), must(add.ExplainReduceat(nil, a, starts))(t),
			must(add.ExplainOuter(nil, a, a))(t),
			must(add.ExplainAt(nil, running, indices, gufunc.Float(1)))(t)}
		for i, text := range texts {
			if !strings.Contains(text, "float64") {
				t.Fatal(i, text)
			}
		}
		resolved := []*gufunc.Resolution{must(add.ResolveReduce(rows, a))(t),
			must(add.ResolveAccumulate(acc, a))(t), must(add.ResolveReduceat(nil, a, starts))(t),
			must(add.ResolveOuter(nil, a, a))(t)}
		equal(t, resolved[0].OutputShapes[0], []int{2, 1})
		equal(t, resolved[3].OutputShapes[0], []int{2, 3, 2, 3})
		one := must(add.ResolveAt(nil, counts, indices, gufunc.Int(1)))(t)
		equal(t, one.OutputShapes[0], []int{3})
	}
}
