// SPDX-License-Identifier: Apache-2.0

package gufunc_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"example.org/gufunc"
)

// Checks that Item rejects a wrong type, operand, item, or offset in the item.
func TestLoopsStayInsideTheirOperands(t *testing.T) {
	own := must(gufunc.NewContext())(t)
	defer own.Close()
	u := must(own.Create(gufunc.UfuncDesc{Name: "outside", Signature: "(n,m),(m)->(n)"}))(t)
	var access func(l *gufunc.LoopArgs)
	f4, f8 := gufunc.Float32, gufunc.Float64
	check(t, u.AddLoop([]gufunc.DType{f8, f8, f4}, 0, func(l *gufunc.LoopArgs) error {
		access(l)
		return nil
	}))
	outs := []float32{1, 2, 3, 4}
	out := must(gufunc.Of(outs[:3]))(t)
	transposed := must(must(gufunc.Of(make([]float64, 6), 2, 3))(t).Transpose())(t)
	backwards := must(must(gufunc.Of(make([]float64, 2)))(t).Slice(gufunc.All().By(-1)))(t)
	type metres float64
	for text, wrong := range map[string]func(l *gufunc.LoopArgs){
		"operand 2 has elements of float32, not float64": func(l *gufunc.LoopArgs) {
			*gufunc.Item[float64](l, 2, 0, 8) = 1e300
		},
		"not int64":               func(l *gufunc.LoopArgs) { gufunc.Item[int64](l, 0, 0, 0) },
		"not uint32":              func(l *gufunc.LoopArgs) { gufunc.Item[uint32](l, 2, 0, 0) },
		"not [2]float32":          func(l *gufunc.LoopArgs) { gufunc.Item[[2]float32](l, 2, 0, 0) },
		"operand 3 of 3":          func(l *gufunc.LoopArgs) { gufunc.Item[float32](l, 3, 0, 0) },
		"operand -1":              func(l *gufunc.LoopArgs) { gufunc.Item[float32](l, -1, 0, 0) },
		"item 1 of 1":             func(l *gufunc.LoopArgs) { gufunc.Item[float32](l, 2, 1, 0) },
		"item -1 of 1":            func(l *gufunc.LoopArgs) { gufunc.Item[metres](l, 0, -1, 0) },
		"12 bytes into":           func(l *gufunc.LoopArgs) { gufunc.Item[float32](l, 2, 0, 12) },
		"-4 bytes into":           func(l *gufunc.LoopArgs) { gufunc.Item[float32](l, 2, 0, -4) },
		"48 bytes into":           func(l *gufunc.LoopArgs) { gufunc.Item[metres](l, 0, 0, 48) },
		"8 bytes into":            func(l *gufunc.LoopArgs) { gufunc.Item[float64](l, 1, 0, 8) },
		"Operand(7): there are 3": func(l *gufunc.LoopArgs) { l.Operand(7) },
		"Step(7): there are 7":    func(l *gufunc.LoopArgs) { l.Step(7) },
		"Dim(-1): there are 3":    func(l *gufunc.LoopArgs) { l.Dim(-1) },
	} {
		access = wrong
		_, err := u.Call(&gufunc.CallOptions{Out: []gufunc.Operand{out}}, transposed, backwards)
		failed := wantStatus(t, err, gufunc.ErrLoop)
		if !strings.HasPrefix(failed.Message, "panic: ") || !strings.Contains(failed.Message, text) {
			t.Error(failed, "instead of", text)
		}
	}
	equal(t, outs, []float32{1, 2, 3, 4})
	var kept *gufunc.LoopArgs
	access = func(l *gufunc.LoopArgs) {
		kept = l
		*gufunc.Item[metres](l, 0, 0, 2*l.Step(3)+l.Step(4)) = 5
		*gufunc.Item[float64](l, 1, 0, l.Step(5)) = 7
		*gufunc.Item[float32](l, 2, 0, 2*l.Step(6)) = float32(l.Dim(1)*10 + l.Dim(2))
	}
	must(u.Call(&gufunc.CallOptions{Out: []gufunc.Operand{out}}, transposed, backwards))(t)
	equal(t, outs, []float32{1, 2, 32, 4})
	if last := must(transposed.Values())(t)[5]; last != 5 || must(backwards.Values())(t)[1] != 7 {
		t.Fatal(last)
	}
	defer func() {
		if problem := recover(); problem == nil {
			t.Fatal("items of a loop that is done can be reached")
		}
	}()
	gufunc.Item[float32](kept, 2, 0, 0)
}

// Tests an empty core dimension, more operands than LoopArgs can store without an allocation, and
// structured dtypes of the right size.
func TestLoopsOverEmptyAndManyOperands(t *testing.T) {
	own := must(gufunc.NewContext())(t)
	defer own.Close()
	f8 := gufunc.Float64
	u := must(own.Create(gufunc.UfuncDesc{Name: "first", Signature: "(n)->()"}))(t)
	check(t, u.AddLoop([]gufunc.DType{f8, f8}, 0, func(l *gufunc.LoopArgs) error {
		*gufunc.Item[float64](l, 1, 0, 0) = *gufunc.Item[float64](l, 0, 0, 0)
		return nil
	}))
	_, err := u.Call(nil, must(gufunc.Of([]float64{}))(t))
	if failed := wantStatus(t, err, gufunc.ErrLoop); !strings.Contains(failed.Message, "0 bytes") {
		t.Fatal(failed)
	}
	half := func(a float64) float64 { return a / 2 }
	wantStatus(t, gufunc.AddFunc1(u, half), gufunc.ErrSignature)
	many := must(own.Create(gufunc.UfuncDesc{Name: "many", NIn: 5, NOut: 1}))(t)
	check(t, many.AddLoop([]gufunc.DType{f8, f8, f8, f8, f8, f8}, 0, func(l *gufunc.LoopArgs) error {
		for i := range l.Items() {
			for k := range 5 {
				*gufunc.Item[float64](l, 5, i, 0) += *gufunc.Item[float64](l, k, i, 0)
			}
		}
		return nil
	}))
	sums := make([]float64, 3)
	a, out := must(gufunc.Of([]float64{1, 2, 3}))(t), must(gufunc.Of(sums))(t)
	must(many.Call(&gufunc.CallOptions{Out: []gufunc.Operand{out}}, a, a, a, a, a))(t)
	equal(t, sums, []float64{5, 10, 15})
	state := must(gufunc.RegisterDType("go_pair", 16, 8))(t)
	pair := must(own.Create(gufunc.UfuncDesc{Name: "pair", NIn: 1, NOut: 1}))(t)
	check(t, pair.AddLoop([]gufunc.DType{f8, state}, 0, func(l *gufunc.LoopArgs) error {
		*gufunc.Item[[2]float64](l, 1, 0, 0) = [2]float64{1, 2}
		gufunc.Item[[3]float64](l, 1, 0, 0)
		return nil
	}))
	_, err = pair.Call(nil, gufunc.Scalar(1.0))
	if failed := wantStatus(t, err, gufunc.ErrLoop); !strings.Contains(failed.Message,
		"go_pair, not [3]float64") {
		t.Fatal(failed)
	}
}

// A Go type that contains a pointer is rejected for a structured dtype, because the garbage
// collector does not see the library's memory.
func TestStructsContainNoPointers(t *testing.T) {
	type hidden struct {
		counts [2]int32
		inner  [1]struct{ p *int }
	}
	type plain struct {
		none  [0]*int
		place uintptr
		flags [8]bool
	}
	own := must(gufunc.NewContext())(t)
	defer own.Close()
	state := must(gufunc.RegisterDType("go_sixteen", 16, 8))(t)
	var access func(l *gufunc.LoopArgs)
	u := must(own.Create(gufunc.UfuncDesc{Name: "stores", NIn: 1, NOut: 1}))(t)
	types := []gufunc.DType{gufunc.Float64, state}
	check(t, u.AddLoop(types, 0, func(l *gufunc.LoopArgs) error {
		*gufunc.Item[plain](l, 1, 0, 0) = plain{place: 5}
		access(l)
		return nil
	}))
	for _, wrong := range []func(l *gufunc.LoopArgs){
		func(l *gufunc.LoopArgs) { gufunc.Item[hidden](l, 1, 0, 0) },
		func(l *gufunc.LoopArgs) { gufunc.Item[string](l, 1, 0, 0) },
		func(l *gufunc.LoopArgs) { gufunc.Item[any](l, 1, 0, 0) },
	} {
		access = wrong
		_, err := u.Call(nil, gufunc.Scalar(1.0))
		wantStatus(t, err, gufunc.ErrLoop)
	}
	access = func(*gufunc.LoopArgs) {}
	made := must(u.Call(nil, gufunc.Scalar(1.0)))(t)[0]
	if found := must(gufunc.Structs[plain](made))(t); found[0].place != 5 {
		t.Fatal(found)
	}
	_, err := gufunc.Structs[hidden](made)
	wantStatus(t, err, gufunc.ErrDType)
	_, err = gufunc.OfStructs(state, make([]hidden, 2))
	wantStatus(t, err, gufunc.ErrDType)
	must(gufunc.OfStructs(state, make([]plain, 2)))(t)
	one := must(gufunc.Of([]complex128{1}))(t)
	_, err = gufunc.Structs[plain](one.Any()) // not an array of a structured dtype
	wantStatus(t, err, gufunc.ErrDType)
	equal(t, must(gufunc.Structs[complex128](one.Any()))(t), []complex128{1})
}

// Numbers that do not fit into C's 32 bits are rejected, with the name of the argument.
func TestNumbersAreNotCut(t *testing.T) {
	const cut = 1<<32 + 1
	refused := func(err error, status gufunc.Status, name string) {
		t.Helper()
		failed := wantStatus(t, err, status)
		if !strings.HasPrefix(failed.Message, name+": ") {
			t.Error(failed)
		}
	}
	add, one := gufunc.MustFind("add"), must(gufunc.Of([]float64{1}))(t)
	_, err := add.Call(&gufunc.CallOptions{Threads: cut}, one, one)
	refused(err, gufunc.ErrArg, "Threads")
	_, err = add.Reduce(&gufunc.ReduceOptions{Threads: -1}, one)
	refused(err, gufunc.ErrArg, "Threads")
	_, err = add.CallChunked(context.Background(), &gufunc.CallOptions{Out: []gufunc.Operand{one}},
		&gufunc.ChunkOptions{Depth: cut}, one, one)
	refused(err, gufunc.ErrArg, "Depth")
	_, err = gufunc.Poll(1 << 32)
	refused(err, gufunc.ErrArg, "limit")
	_, err = gufunc.Create(gufunc.UfuncDesc{Name: "go_cut", NIn: cut, NOut: 1})
	refused(err, gufunc.ErrArg, "NIn or NOut")
	_, err = gufunc.Create(gufunc.UfuncDesc{Name: "go_cut", NIn: 1, NOut: cut})
	refused(err, gufunc.ErrArg, "NIn or NOut")
	_, err = add.LoopTypes(1 << 32)
	refused(err, gufunc.ErrIndex, "index")
	_, err = gufunc.DateTime64.WithUnit(gufunc.Second, cut)
	refused(err, gufunc.ErrArg, "multiple")
	_, err = gufunc.RegisterDType("go_cut", cut, 1)
	refused(err, gufunc.ErrArg, "itemSize or alignment")
	m := must(gufunc.LoadModule(module(t, "raw_counting")))(t)
	defer m.Close()
	k := must(m.Kernel("histogram"))(t)
	_, err = k.Parameter(1 << 32)
	refused(err, gufunc.ErrIndex, "index")
	refused(k.Launch(nil, gufunc.D1(cut), gufunc.D1(1)), gufunc.ErrArg, "grid")
	refused(k.Launch(nil, gufunc.D1(1), gufunc.D2(1, -1)), gufunc.ErrArg, "block")
	options := gufunc.KernelOptions{SharedBytes: 1 << 32}
	refused(k.Launch(&options, gufunc.D1(1), gufunc.D1(1)), gufunc.ErrArg, "SharedBytes")
	if text := fmt.Sprint(k, m); text != "raw_counting:histogram raw_counting" {
		t.Error(text)
	}
}

func TestObjectsPrint(t *testing.T) {
	one := must(gufunc.Of([]float64{1}))(t)
	add := gufunc.MustFind("add")
	cpu := must(gufunc.FindDevice("cpu"))(t)
	p := must(add.NewPlan(&gufunc.CallOptions{Out: []gufunc.Operand{one}}, one, one))(t)
	text := fmt.Sprint(add, ", ", must(cpu.NewStream())(t), ", ", must(cpu.NewEvent())(t), ", ", p)
	if text != "add, stream of cpu, event, plan" {
		t.Error(text)
	}
	check(t, p.Close())
	if fmt.Sprint(p) != "no plan" || fmt.Sprint((*gufunc.Ufunc)(nil)) != "no ufunc" {
		t.Error(p)
	}
}

func TestValuesOfHugeBroadcasts(t *testing.T) {
	one := must(gufunc.Of([]float64{1}))(t)
	for _, extent := range []int{1 << 44, 1 << 59} {
		huge := must(one.BroadcastTo(extent))(t)
		_, err := huge.Values()
		wantStatus(t, err, gufunc.ErrNoMemory)
	}
}
