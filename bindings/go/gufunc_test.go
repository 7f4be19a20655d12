// SPDX-License-Identifier: Apache-2.0

package gufunc_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"example.org/gufunc"
)

// must returns a function that returns value, or stops the test if there is an error.
func must[T any](value T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantStatus(t *testing.T, err error, status gufunc.Status) *gufunc.Error {
	t.Helper()
	if !errors.Is(err, status) {
		t.Fatalf("expected %v, got %v", status, err)
	}
	var failed *gufunc.Error
	if !errors.As(err, &failed) {
		t.Fatalf("%v is no *gufunc.Error", err)
	}
	return failed
}

func equal[T comparable](t *testing.T, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("expected %v, got %v", want, got)
	}
}

// devices returns the cpu and the devices that GUFUNC_TEST_DEVICES lists.
func devices(t *testing.T) []gufunc.Device {
	specs := "cpu"
	if named := os.Getenv("GUFUNC_TEST_DEVICES"); named != "" {
		specs = named
	}
	var found []gufunc.Device
	for _, spec := range strings.Split(specs, ",") {
		found = append(found, must(gufunc.FindDevice(spec))(t))
	}
	return found
}

func TestCallIntoSlices(t *testing.T) {
	a := must(gufunc.Of([]float64{1, 2, 3, 4, 5, 6}, 2, 3))(t)
	b := must(gufunc.Of([]float64{10, 20, 30}))(t)
	out := make([]float64, 6)
	c := must(gufunc.Of(out, 2, 3))(t)
	check(t, gufunc.MustFind("add").CallInto(c, a, b))
	equal(t, out, []float64{11, 22, 33, 14, 25, 36})
}

func TestCallAllocatesAndKeepsTypes(t *testing.T) {
	a := must(gufunc.Of([]float32{1, 4, 9}))(t)
	root := must(gufunc.Call[float32](gufunc.MustFind("sqrt"), nil, a))(t)
	defer root.Close()
	equal(t, must(root.Values())(t), []float32{1, 2, 3})
	twice := must(gufunc.Call[float32](gufunc.MustFind("multiply"), nil, a, gufunc.Float(2)))(t)
	equal(t, must(twice.Data())(t), []float32{2, 8, 18})
	_, err := gufunc.Call[float64](gufunc.MustFind("sqrt"), nil, a)
	wantStatus(t, err, gufunc.ErrDType)
}

func TestParametersOfAReduction(t *testing.T) {
	variance, a := gufunc.MustFind("var"), must(gufunc.Of([]float64{1, 2, 6}))(t)
	options := gufunc.ReduceOptions{Parameters: []gufunc.Operand{gufunc.Int(1)}}
	found := must(gufunc.As[float64](must(variance.Reduce(&options, a))(t)))(t)
	equal(t, must(found.Values())(t), []float64{7})
	_, err := gufunc.MustFind("add").Reduce(&options, a)
	wantStatus(t, err, gufunc.ErrArg)
}

func TestErrorsNameReasonAndOperand(t *testing.T) {
	a := must(gufunc.Of([]float64{1, 2, 3}))(t)
	b := must(gufunc.Of([]float64{1, 2}))(t)
	_, err := gufunc.MustFind("add").Call(nil, a, b)
	failed := wantStatus(t, err, gufunc.ErrShape)
	if !strings.HasPrefix(failed.Message, "operands could not be broadcast together") {
		t.Fatal(failed.Message)
	}
	if errors.Is(err, gufunc.ErrAxis) || failed.Status.Class() != 3 ||
		failed.Status.String() != "GUF_E_SHAPE" {
		t.Fatal(failed)
	}
	_, err = gufunc.MustFind("add").Reduce(&gufunc.ReduceOptions{Axes: []int{4}}, a)
	wantStatus(t, err, gufunc.ErrAxis)
	_, err = gufunc.Find("ad")
	if failed := wantStatus(t, err, gufunc.ErrNotFound); !strings.Contains(failed.Message, "add") {
		t.Fatal(failed)
	}
	small := must(gufunc.Of([]int8{1}))(t)
	_, err = gufunc.MustFind("add").Call(nil, small, gufunc.Int(300))
	wantStatus(t, err, gufunc.ErrOverflow)
	huge := new(big.Int).Lsh(big.NewInt(1), 80)
	_, err = gufunc.MustFind("add").Call(nil, small, gufunc.BigInt(huge))
	wantStatus(t, err, gufunc.ErrOverflow)
	readOnly := must(gufunc.ReadOnly([]float64{1, 2, 3}))(t)
	wantStatus(t, gufunc.MustFind("negative").CallInto(readOnly, a), gufunc.ErrReadOnly)
}

func TestClosedObjectsAnswerWithAnError(t *testing.T) {
	a := must(gufunc.Of([]float64{1}))(t)
	check(t, a.Close())
	check(t, a.Close())
	_, err := gufunc.MustFind("negative").Call(nil, a)
	wantStatus(t, err, gufunc.ErrHandle)
	u := gufunc.MustFind("negative")
	check(t, u.Close())
	_, err = u.Call(nil, gufunc.Float(1))
	wantStatus(t, err, gufunc.ErrHandle)
	var none *gufunc.Stream
	check(t, none.Close())
	var missing *gufunc.AnyArray
	check(t, missing.Close())
	_, err = missing.Info()
	wantStatus(t, err, gufunc.ErrHandle)
}

func TestKeywords(t *testing.T) {
	a := must(gufunc.Of([]int32{1, 2, 3}))(t)
	mask := must(gufunc.Of([]bool{true, false, true}))(t)
	out := []float64{-1, -1, -1}
	given := must(gufunc.Of(out))(t)
	add := gufunc.MustFind("add")
	made := must(add.Call(&gufunc.CallOptions{Out: []gufunc.Operand{given}, Where: mask,
		DType: gufunc.Float64}, a, gufunc.Int(1)))(t)
	equal(t, out, []float64{2, -1, 4})
	if made[0] != given.Any() {
		t.Fatal("a given output is not the one returned")
	}
	none := &gufunc.CallOptions{Out: []gufunc.Operand{}} // an empty Out is like nil
	equal(t, must(must(gufunc.Call[int32](add, none, a, a))(t).Values())(t), []int32{2, 4, 6})
	_, err := add.Call(&gufunc.CallOptions{Casting: gufunc.NoCasting, DType: gufunc.Float64}, a, a)
	wantStatus(t, err, gufunc.ErrCasting)
	_, err = add.Call(&gufunc.CallOptions{Signature: []gufunc.DType{gufunc.Bool, 0, 0},
		Casting: gufunc.Safe}, a, a)
	if err == nil {
		t.Fatal("int32 to bool is not safe")
	}
	m := must(gufunc.Of([]float64{1, 2, 3, 4}, 2, 2))(t)
	inner := gufunc.MustFind("vecdot")
	made = must(inner.Call(&gufunc.CallOptions{Axis: gufunc.Axis(0), KeepDims: true}, m, m))(t)
	equal(t, must(must(gufunc.As[float64](made[0]))(t).Values())(t), []float64{10, 20})
	equal(t, made[0].Shape(), []int{1, 2})
	made = must(gufunc.MustFind("matmul").Call(&gufunc.CallOptions{
		Axes: [][]int{{1, 0}, {0, 1}, {0, 1}}, Order: gufunc.FOrder, Threads: 1}, m, m))(t)
	equal(t, must(must(gufunc.As[float64](made[0]))(t).Values())(t), []float64{10, 14, 14, 20})
	equal(t, made[0].Strides(), []int{8, 16})
}

func TestSeveralOutputs(t *testing.T) {
	x := must(gufunc.Of([]float64{7.5, -2.25}))(t)
	both := must(gufunc.MustFind("divmod").Call(nil, x, gufunc.Int(2)))(t)
	equal(t, must(must(gufunc.As[float64](both[0]))(t).Values())(t), []float64{3, -2})
	equal(t, must(must(gufunc.As[float64](both[1]))(t).Values())(t), []float64{1.5, 1.75})
	fraction, exponent := make([]float64, 2), make([]int32, 2)
	out := []gufunc.Operand{must(gufunc.Of(fraction))(t), must(gufunc.Of(exponent))(t)}
	must(gufunc.MustFind("frexp").Call(&gufunc.CallOptions{Out: out}, x))(t)
	equal(t, fraction, []float64{0.9375, -0.5625})
	equal(t, exponent, []int32{3, 2})
}

// The axes of each operand are checked separately, whatever the other lists contain.
func TestAxesAreOfTheirOperands(t *testing.T) {
	m, v := must(gufunc.Of(count(9), 3, 3))(t), must(gufunc.Of(count(3)))(t)
	inner, product := gufunc.MustFind("vecdot"), gufunc.MustFind("matmul")
	for _, wrong := range []struct {
		u        *gufunc.Ufunc
		axes     [][]int
		keep     bool
		a, b     gufunc.Operand
		argument int
		counts   string
	}{
		{inner, [][]int{{}, {}, {0, 1}}, false, m, m, 0, "1 core dimensions, but 0 dim"},
		{inner, [][]int{{}, {1}, {1}}, false, m, m, 0, "1 core dimensions, but 0 dim"},
		{inner, [][]int{{1}, {}, {1}}, false, m, m, 1, "1 core dimensions, but 0 dim"},
		{inner, [][]int{{0, 1}, {}}, false, m, m, 0, "1 core dimensions, but 2 dim"},
		{inner, [][]int{{0}, {0}, {0, 1}}, true, m, m, 2, "1 core dimensions, but 2 dim"},
		{product, [][]int{{1}, {0, 1, 0}, {0, 1}}, false, m, m, 0, "2 core dimensions, but 1 dim"},
		{product, [][]int{{0, 1}, {0}, {1}}, false, v, m, 0, "1 core dimensions, but 2 dim"},
	} {
		_, err := wrong.u.Call(&gufunc.CallOptions{Axes: wrong.axes, KeepDims: wrong.keep},
			wrong.a, wrong.b)
		if err == nil {
			t.Error(wrong.axes, "are accepted")
			continue
		}
		failed := wantStatus(t, err, gufunc.ErrAxis)
		if !strings.Contains(failed.Message, fmt.Sprintf(": operand %d has %s", wrong.argument,
			wrong.counts)) || failed.Argument != wrong.argument {
			t.Error(failed, failed.Argument, "for", wrong.axes)
		}
	}
	for _, axes := range [][][]int{{}, {{0, 1}}, {{0, 1}, {0, 1}}, {{0}, {0}, {}, {}}} {
		_, err := product.Call(&gufunc.CallOptions{Axes: axes}, m, m)
		if failed := wantStatus(t, err, gufunc.ErrArg); !strings.Contains(failed.Message,
			fmt.Sprintf("naxes: expected 3, got %d", len(axes))) {
			t.Error(failed, "for", axes)
		}
	}
	for _, right := range []struct {
		u     *gufunc.Ufunc
		axes  [][]int
		keep  bool
		a, b  gufunc.Operand
		shape []int
	}{
		{inner, [][]int{{0}, {0}}, false, m, m, []int{3}},
		{inner, [][]int{{0}, {0}, {}}, false, m, v, []int{3}},
		{inner, [][]int{{0}, {0}, {1}}, true, m, m, []int{3, 1}},
		{inner, [][]int{{0}, {0}}, true, m, m, []int{3, 1}},
		{product, [][]int{{0}, {0, 1}, {0}}, false, v, m, []int{3}},
		{product, [][]int{{0}, {0}, {}}, false, v, v, nil},
	} {
		made := must(right.u.Call(&gufunc.CallOptions{Axes: right.axes, KeepDims: right.keep},
			right.a, right.b))(t)
		if shape := made[0].Shape(); !slices.Equal(shape, right.shape) {
			t.Error(right.axes, shape)
		}
	}
	_, err := gufunc.MustFind("add").Call(&gufunc.CallOptions{Axes: [][]int{{0}}}, m, m)
	if failed := wantStatus(t, err, gufunc.ErrArg); strings.Contains(failed.Message, "operand 0") {
		t.Error(failed) // there are no core dimensions to count
	}
	_, err = product.Call(&gufunc.CallOptions{Axes: [][]int{{0}}}, gufunc.Int(1), v)
	wantStatus(t, err, gufunc.ErrShape)
}

func TestFloatingPointFlags(t *testing.T) {
	status := gufunc.NewFPStatus()
	divide := gufunc.MustFind("divide")
	zero := must(gufunc.Of([]float64{1, 0}))(t)
	made := must(divide.Call(&gufunc.CallOptions{FPStatus: status, Report: gufunc.AllFPFlags},
		gufunc.Float(0), zero))(t)
	if status.Found() != gufunc.Invalid {
		t.Fatal(status.Found())
	}
	if values := must(must(gufunc.As[float64](made[0]))(t).Values())(t); !math.IsNaN(values[1]) {
		t.Fatal(values)
	}
	_, err := divide.Call(&gufunc.CallOptions{Fail: gufunc.Divide}, gufunc.Float(1), zero)
	wantStatus(t, err, gufunc.ErrFloatingPoint)
	status.Clear()
	if status.Found() != 0 {
		t.Fatal(status.Found())
	}
}

func TestResolveAndExplain(t *testing.T) {
	a := must(gufunc.Of([]int32{1, 2, 3}, 3, 1))(t)
	b := must(gufunc.Of([]float32{1, 2}))(t)
	add := gufunc.MustFind("add")
	r := must(add.Resolve(nil, a, b))(t)
	equal(t, r.LoopDTypes, []gufunc.DType{gufunc.Float64, gufunc.Float64, gufunc.Float64})
	equal(t, r.OutputShapes[0], []int{3, 2})
	types := must(add.LoopTypes(r.Loop))(t)
	equal(t, types, r.LoopDTypes)
	text := must(add.Explain(nil, a, b))(t)
	if !strings.Contains(text, "float64") {
		t.Fatal(text)
	}
	_, err := add.LoopTypes(1000)
	wantStatus(t, err, gufunc.ErrIndex)
}

func TestUfuncsAreListedAndDescribed(t *testing.T) {
	names := must(gufunc.Names())(t)
	if !slices.IsSorted(names) || !slices.Contains(names, "matmul") {
		t.Fatal(names)
	}
	info := must(gufunc.MustFind("add").Info())(t)
	if info.NIn != 2 || info.NOut != 1 || info.Identity != gufunc.Zero || info.Signature != "" ||
		info.Flags&gufunc.Commutative == 0 {
		t.Fatal(info)
	}
	if info := must(gufunc.MustFind("matmul").Info())(t); info.Signature != "(n?,k),(k,m?)->(n?,m?)" {
		t.Fatal(info.Signature)
	}
	if gufunc.Version() == "" || gufunc.VersionNumber() == 0 {
		t.Fatal("no version")
	}
}
