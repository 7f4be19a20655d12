// SPDX-License-Identifier: Apache-2.0

package gufunc_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"example.org/gufunc"
)

func TestElementwiseFunctionsOfGo(t *testing.T) {
	own := must(gufunc.NewContext())(t)
	defer own.Close()
	u := must(own.Create(gufunc.UfuncDesc{Name: "hypotenuse", NIn: 2, NOut: 1, Doc: "of two sides",
		Flags: gufunc.Commutative}))(t)
	check(t, gufunc.AddFunc2(u, func(a, b int32) int32 { return a*a + b*b }))
	check(t, gufunc.AddFunc2(u, func(a, b float64) float64 { return a*a + b*b }))
	err := gufunc.AddFunc2(u, func(a, b int32) int32 { return 0 })
	wantStatus(t, err, gufunc.ErrExists)
	a := must(gufunc.Of([]int32{1, 2, 3, 4}, 2, 2))(t)
	transposed := must(a.Transpose())(t)
	got := must(gufunc.Call[int32](u, nil, transposed, gufunc.Int(1)))(t)
	equal(t, must(got.Values())(t), []int32{2, 10, 5, 17})
	large := must(gufunc.Full(gufunc.Device{}, 2.0, 300, 700))(t)
	squares := must(gufunc.Call[float64](u, &gufunc.CallOptions{Threads: 4}, large, large))(t)
	for _, value := range must(squares.Data())(t) {
		if value != 8 {
			t.Fatal(value)
		}
	}
	squares.KeepAlive()
	one := must(own.Create(gufunc.UfuncDesc{Name: "half", NIn: 1, NOut: 1}))(t)
	check(t, gufunc.AddFunc1(one, func(a gufunc.Float16) float32 { return a.Float32() / 2 }))
	halves := must(gufunc.Of([]gufunc.Float16{gufunc.NewFloat16(3), gufunc.NewFloat16(-1)}))(t)
	equal(t, must(must(gufunc.Call[float32](one, nil, halves))(t).Values())(t), []float32{1.5, -.5})
	three := must(own.Create(gufunc.UfuncDesc{Name: "choose", NIn: 3, NOut: 1}))(t)
	check(t, gufunc.AddFunc3(three, func(first bool, a, b complex64) complex64 {
		if first {
			return a
		}
		return b
	}))
	flags := must(gufunc.Of([]bool{true, false}))(t)
	c := must(gufunc.Of([]complex64{1i, 2i}))(t)
	d := must(gufunc.Of([]complex64{3, 4}))(t)
	equal(t, must(must(gufunc.Call[complex64](three, nil, flags, c, d))(t).Values())(t),
		[]complex64{1i, 4})
}

// rowSums is a loop of (n)->() for float64.
func rowSums(l *gufunc.LoopArgs) error {
	for i := range l.Items() {
		sum := 0.0
		for k := range l.Dim(1) {
			sum += *gufunc.Item[float64](l, 0, i, k*l.Step(2))
		}
		*gufunc.Item[float64](l, 1, i, 0) = sum
	}
	return nil
}

func TestGeneralizedLoopsAndCoreDims(t *testing.T) {
	own := must(gufunc.NewContext())(t)
	defer own.Close()
	u := must(own.Create(gufunc.UfuncDesc{Name: "rows", Signature: "(n)->()",
		CoreDims: func(sizes []int) error {
			switch sizes[0] {
			case 5:
				return fmt.Errorf("five is refused")
			case 6:
				return &gufunc.Error{Status: gufunc.ErrShape, Message: "six is refused"}
			case 7:
				panic("seven")
			}
			return nil
		}}))(t)
	f8 := gufunc.Float64
	check(t, u.AddLoop([]gufunc.DType{f8, f8}, 0, rowSums))
	m := must(gufunc.Of([]float64{1, 2, 3, 4, 5, 6}, 2, 3))(t)
	equal(t, must(must(gufunc.Call[float64](u, nil, m))(t).Values())(t), []float64{6, 15})
	columns := gufunc.CallOptions{Axes: [][]int{{0}, {}}}
	equal(t, must(must(gufunc.Call[float64](u, &columns, m))(t).Values())(t), []float64{5, 7, 9})
	for n, expected := range map[int]struct {
		status gufunc.Status
		text   string
	}{5: {gufunc.ErrLoop, "five is refused"}, 6: {gufunc.ErrShape, "six is refused"},
		7: {gufunc.ErrLoop, "panic: seven"}} {
		_, err := u.Call(nil, must(gufunc.Alloc[float64](gufunc.Device{}, n))(t))
		if failed := wantStatus(t, err, expected.status); failed.Message != expected.text {
			t.Fatal(failed)
		}
	}
	_, err := own.Create(gufunc.UfuncDesc{Name: "wrong", Signature: "(n->()"})
	wantStatus(t, err, gufunc.ErrSignature)
	inout := must(own.Create(gufunc.UfuncDesc{Name: "increase", Signature: "(n)",
		Roles: []gufunc.Role{gufunc.InOut}}))(t)
	check(t, inout.AddLoop([]gufunc.DType{f8}, 0, func(l *gufunc.LoopArgs) error {
		for i := range l.Items() {
			for k := range l.Dim(1) {
				*gufunc.Item[float64](l, 0, i, k*l.Step(1))++
			}
		}
		return nil
	}))
	data := []float64{1, 2, 3}
	must(inout.Call(nil, must(gufunc.Of(data))(t)))(t)
	equal(t, data, []float64{2, 3, 4})
}

func TestLoopsThatFail(t *testing.T) {
	own := must(gufunc.NewContext())(t)
	defer own.Close()
	f8 := gufunc.Float64
	whole := &gufunc.Error{Status: gufunc.ErrValue, Message: "whole", Argument: 1, Axis: 2,
		NativeCode: 3}
	for i, expected := range []struct {
		failure  error // nil: the loop panics
		status   gufunc.Status
		text     string
		argument int
	}{
		{errors.New("of the program"), gufunc.ErrLoop, "of the program", -1},
		{gufunc.ErrValue, gufunc.ErrValue, gufunc.ErrValue.Error(), -1},
		{fmt.Errorf("inside: %w", gufunc.ErrIndex), gufunc.ErrIndex,
			"inside: " + gufunc.ErrIndex.Error(), -1},
		{whole, gufunc.ErrValue, "whole", 1},
		{fmt.Errorf("inside: %w", whole), gufunc.ErrValue, "inside: " + whole.Error(), 1},
		{&gufunc.Error{Status: 7, Message: "odd"}, gufunc.ErrLoop, "odd", 0},
		{gufunc.Status(7), gufunc.ErrLoop, gufunc.Status(7).Error(), -1},
		{errors.New(""), gufunc.ErrLoop, gufunc.ErrLoop.Error(), -1},
		{errors.New(strings.Repeat("ä", 400)), gufunc.ErrLoop, strings.Repeat("ä", 243), -1},
		{badError{}, gufunc.ErrLoop, "panic: no text", -1},
		{nil, gufunc.ErrLoop, "panic: in a loop", -1},
	} {
		name := fmt.Sprint("fails", i)
		u := must(own.Create(gufunc.UfuncDesc{Name: name, NIn: 1, NOut: 1}))(t)
		check(t, u.AddLoop([]gufunc.DType{f8, f8}, 0, func(*gufunc.LoopArgs) error {
			if expected.failure == nil {
				panic("in a loop")
			}
			return expected.failure
		}))
		_, err := u.Call(nil, gufunc.Scalar(1.0))
		failed := wantStatus(t, err, expected.status)
		if failed.Message != expected.text || failed.Argument != expected.argument {
			t.Fatalf("%v of operand %d", failed, failed.Argument)
		}
	}
}

type badError struct{}

func (badError) Error() string { panic("no text") }

// When several threads call at the same time, each call reports the error of its own loop.
func TestTextsOfLoopsBelongToTheirCalls(t *testing.T) {
	own := must(gufunc.NewContext())(t)
	defer own.Close()
	u := must(own.Create(gufunc.UfuncDesc{Name: "refuses", NIn: 1, NOut: 1}))(t)
	f8 := gufunc.Float64
	check(t, u.AddLoop([]gufunc.DType{f8, f8}, gufunc.AnyThread, func(l *gufunc.LoopArgs) error {
		return fmt.Errorf("refused %v", *gufunc.Item[float64](l, 0, 0, 0))
	}))
	var group sync.WaitGroup
	for g := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 500 {
				_, err := u.Call(nil, gufunc.Scalar(float64(g)))
				if err == nil || !strings.HasSuffix(err.Error(), fmt.Sprint("refused ", g)) {
					t.Errorf("goroutine %d: %v", g, err)
					return
				}
			}
		}()
	}
	group.Wait()
}

// When a ufunc is freed, the Go memory to which its loops refer can be collected.
func TestLoopsAreLetGo(t *testing.T) {
	var collected atomic.Bool
	func() {
		own := must(gufunc.NewContext())(t)
		u := must(own.Create(gufunc.UfuncDesc{Name: "kept", NIn: 1, NOut: 1}))(t)
		big := new([1 << 16]float64)
		runtime.AddCleanup(big, func(int) { collected.Store(true) }, 0)
		check(t, gufunc.AddFunc1(u, func(a float64) float64 { return a + big[0] }))
		must(u.Call(nil, gufunc.Scalar(1.0)))(t)
		check(t, u.Close())
		check(t, own.Close())
	}()
	for range 50 {
		must(gufunc.Poll(0))(t)
		runtime.GC()
		if collected.Load() {
			return
		}
	}
	t.Fatal("the loop's function is never collected")
}

type extreme struct {
	Value float64
	Index int64
}

// Computes the maximum and its index with a user-defined accumulator of a structured dtype. All
// functions of the accumulator are written in Go.
func TestReductionsWithAState(t *testing.T) {
	own := must(gufunc.NewContext())(t)
	defer own.Close()
	size := int(unsafe.Sizeof(extreme{}))
	state := must(gufunc.RegisterDType("go_extreme", size, 8))(t)
	_, err := gufunc.RegisterDType("go_extreme", 2*size, 8)
	wantStatus(t, err, gufunc.ErrExists)
	block := must(own.Create(gufunc.UfuncDesc{Name: "go_argmax", Signature: "(n),()->()"}))(t)
	check(t, block.AddLoop([]gufunc.DType{gufunc.Float64, gufunc.Int64, state}, gufunc.AnyThread,
		func(l *gufunc.LoopArgs) error {
			for i := range l.Items() {
				most := extreme{*gufunc.Item[float64](l, 0, i, 0), *gufunc.Item[int64](l, 1, i, 0)}
				for k := range l.Dim(1) {
					value := *gufunc.Item[float64](l, 0, i, k*l.Step(3))
					if value > most.Value {
						most = extreme{value, *gufunc.Item[int64](l, 1, i, 0) + int64(k)}
					}
				}
				*gufunc.Item[extreme](l, 2, i, 0) = most
			}
			return nil
		}))
	merge := must(own.Create(gufunc.UfuncDesc{Name: "go_argmax_merge", NIn: 2, NOut: 1}))(t)
	check(t, merge.AddLoop([]gufunc.DType{state, state, state}, gufunc.AnyThread,
		func(l *gufunc.LoopArgs) error {
			for i := range l.Items() {
				a, b := *gufunc.Item[extreme](l, 0, i, 0), *gufunc.Item[extreme](l, 1, i, 0)
				if b.Value > a.Value {
					a = b
				}
				*gufunc.Item[extreme](l, 2, i, 0) = a
			}
			return nil
		}))
	finish := must(own.Create(gufunc.UfuncDesc{Name: "go_argmax_finish", NIn: 1, NOut: 2}))(t)
	check(t, finish.AddLoop([]gufunc.DType{state, gufunc.Float64, gufunc.Int64}, gufunc.AnyThread,
		func(l *gufunc.LoopArgs) error {
			for i := range l.Items() {
				most := *gufunc.Item[extreme](l, 0, i, 0)
				*gufunc.Item[float64](l, 1, i, 0) = most.Value
				*gufunc.Item[int64](l, 2, i, 0) = most.Index
			}
			return nil
		}))
	check(t, block.SetReduction(merge, finish))
	wantStatus(t, block.SetReduction(merge, finish), gufunc.ErrExists)
	data := make([]float64, 3*1000)
	data[700], data[1999], data[2000] = 5, 6, 7
	a := must(gufunc.Of(data, 3, 1000))(t)
	found := must(block.ReduceState(&gufunc.ReduceOptions{Axes: []int{1}}, a))(t)
	values, positions := must(gufunc.As[float64](found[0]))(t), must(gufunc.As[int64](found[1]))(t)
	equal(t, must(values.Values())(t), []float64{5, 6, 7})
	equal(t, must(positions.Values())(t), []int64{700, 999, 0})

	extremes := []extreme{{1, 2}, {3, 4}}
	both := must(gufunc.OfStructs(state, extremes))(t)
	merged := must(merge.Call(nil, both, must(both.Slice(gufunc.All().By(-1)))(t)))(t)
	equal(t, must(gufunc.Structs[extreme](merged[0]))(t), []extreme{{3, 4}, {3, 4}})
	runtime.KeepAlive(merged)
	_, err = gufunc.Structs[float64](merged[0])
	wantStatus(t, err, gufunc.ErrDType)
}

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
