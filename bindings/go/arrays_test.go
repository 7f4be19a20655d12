// SPDX-License-Identifier: Apache-2.0

package gufunc_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"example.org/gufunc"
)

func count(n int) []float64 {
	made := make([]float64, n)
	for i := range made {
		made[i] = float64(i)
	}
	return made
}

func TestViews(t *testing.T) {
	data := count(24)
	a := must(gufunc.Of(data, 2, 3, 4))(t)
	values := func(v *gufunc.Array[float64], err error) []float64 {
		t.Helper()
		check(t, err)
		return must(v.Values())(t)
	}
	equal(t, values(a.Slice(gufunc.From(1), gufunc.Until(1), gufunc.Between(-3, -1))),
		[]float64{13, 14})
	equal(t, values(a.Slice(gufunc.Between(0, 1), gufunc.Between(2, 3), gufunc.All().By(-2))),
		[]float64{11, 9})
	b := must(a.Reshape(-1, 8))(t)
	equal(t, b.Shape(), []int{3, 8})
	equal(t, must(a.Transpose(2, 0, 1))(t).Shape(), []int{4, 2, 3})
	equal(t, must(a.Transpose())(t).Strides(), []int{8, 32, 96})
	equal(t, must(a.Ravel(gufunc.COrder))(t).Shape(), []int{24})
	equal(t, must(b.ReshapeOrder(gufunc.COrder, 24))(t).Shape(), []int{24})
	equal(t, must(must(a.ExpandDims(0, 4))(t).Squeeze())(t).Shape(), []int{2, 3, 4})
	equal(t, must(must(a.ExpandDims(0, 4))(t).Squeeze(0))(t).Shape(), []int{2, 3, 4, 1})
	windows := must(b.SlidingWindowView([]int{1}, []int{3}))(t)
	equal(t, windows.Shape(), []int{3, 6, 3})
	wide := must(must(gufunc.Of(count(3)))(t).BroadcastTo(2, 3))(t)
	equal(t, must(wide.Values())(t), []float64{0, 1, 2, 0, 1, 2})
	wantStatus(t, wide.Fill(gufunc.Float(1), nil), gufunc.ErrReadOnly)
	_, err := a.Reshape(5)
	wantStatus(t, err, gufunc.ErrShape)
	_, err = must(a.Transpose())(t).Reshape(24)
	wantStatus(t, err, gufunc.ErrUnsupported)
	_, err = must(a.Transpose())(t).Data()
	wantStatus(t, err, gufunc.ErrUnsupported)
	_, err = a.Slice(gufunc.All().By(0))
	wantStatus(t, err, gufunc.ErrValue)
	_, err = a.Transpose(0, 0, 1)
	wantStatus(t, err, gufunc.ErrAxis)
	_, err = gufunc.Of(data, 5)
	wantStatus(t, err, gufunc.ErrShape)
	clone := must(a.Clone())(t)
	check(t, a.Close())
	equal(t, must(clone.Values())(t), data)
}

func TestCopies(t *testing.T) {
	for _, d := range devices(t) {
		a := must(must(gufunc.Of(count(6), 2, 3))(t).ToDevice(d, nil))(t)
		f := must(a.Copy(gufunc.FOrder, nil))(t)
		equal(t, f.Strides(), []int{8, 16})
		short := must(a.AsType(gufunc.Int16, gufunc.Unsafe, gufunc.KeepOrder, nil))(t)
		equal(t, must(must(gufunc.As[int16](short))(t).Values())(t), []int16{0, 1, 2, 3, 4, 5})
		_, err := a.AsType(gufunc.Int16, gufunc.Safe, gufunc.KeepOrder, nil)
		wantStatus(t, err, gufunc.ErrCasting)
		row := must(must(gufunc.Of([]float32{9, 8, 7}))(t).ToDevice(d, nil))(t)
		check(t, f.Assign(row, gufunc.DefaultCasting, nil))
		equal(t, must(f.Values())(t), []float64{9, 8, 7, 9, 8, 7})
		back := make([]float64, 6)
		host := must(gufunc.Of(back, 2, 3))(t)
		check(t, f.CopyTo(host, nil))
		equal(t, back, []float64{9, 8, 7, 9, 8, 7})
		wantStatus(t, a.CopyToHost(back[:2], nil), gufunc.ErrBufferTooSmall)
		columns := make([]byte, 48)
		check(t, a.CopyBytes(columns, gufunc.FOrder, nil))
		if columns[15] != 0x40 || columns[14] != 8 { // a[1][0] is 3.0
			t.Fatal(columns)
		}
		want := "[[0. 1. 2.]\n [3. 4. 5.]]\nshape (2, 3), float64, " + d.String()
		if got := strings.TrimSpace(a.String()); got != want {
			t.Fatalf("%q", got)
		}
	}
}

func TestMemoryOfAnyLayout(t *testing.T) {
	data := make([]byte, 64) // small slices may start at an odd address, this one does not
	copy(data, []byte{0, 0, 1, 0, 2, 0, 3})
	a := must(gufunc.OfBytes(data, 1, gufunc.Memory{DType: gufunc.Int16, Shape: []int{3},
		Swapped: true}))(t)
	doubled := must(gufunc.Call[int16](gufunc.MustFind("add"), nil, a, a))(t)
	equal(t, must(doubled.Values())(t), []int16{2, 4, 6})
	if info := must(a.Info())(t); info.Aligned || !info.SwappedBytes {
		t.Fatal(info)
	}
	back := must(gufunc.OfBytes(data, 5, gufunc.Memory{DType: gufunc.Int8, Shape: []int{3},
		Strides: []int{-2}, ReadOnly: true}))(t)
	got := make([]byte, 3)
	check(t, back.CopyBytes(got, gufunc.COrder, nil))
	equal(t, got, []byte{0, 0, 0})
	for offset, strides := range map[int][]int{61: nil, 63: {1}, -1: {1}, math.MaxInt: {1},
		math.MaxInt - 1: {100 - math.MaxInt}, 8: {math.MinInt}, 9: {math.MaxInt}} {
		_, err := gufunc.OfBytes(data, offset,
			gufunc.Memory{DType: gufunc.Int16, Shape: []int{2}, Strides: strides})
		wantStatus(t, err, gufunc.ErrShape)
	}
	_, err := gufunc.OfBytes(data, 0,
		gufunc.Memory{DType: gufunc.Int16, Shape: []int{1 << 32, 1 << 32, 2}})
	wantStatus(t, err, gufunc.ErrShape)
	_, err = gufunc.OfBytes(data, 1, gufunc.Memory{DType: gufunc.Int16, Shape: []int{2},
		Strides: []int{-2}})
	wantStatus(t, err, gufunc.ErrShape)
	gaps := must(gufunc.AllocAny(gufunc.Device{}, gufunc.Float32,
		&gufunc.AllocOptions{Strides: []int{-16}}, 4))(t)
	equal(t, gaps.Strides(), []int{-16})
	empty := must(gufunc.Of([]float64{}))(t)
	equal(t, must(empty.Values())(t), []float64{})
}

func TestTypes(t *testing.T) {
	for spelling, want := range map[string]gufunc.DType{"float32": gufunc.Float32,
		"<f8": gufunc.Float64, "bf16": gufunc.BFloat16Type, "?": gufunc.Bool,
		"complex64": gufunc.Complex64, "e": gufunc.Float16Type} {
		if got := must(gufunc.ParseDType(spelling))(t); got != want {
			t.Fatal(spelling, got)
		}
	}
	_, err := gufunc.ParseDType("float33")
	wantStatus(t, err, gufunc.ErrDType)
	if gufunc.Complex64.String() != "complex64" || gufunc.Complex128.ItemSize() != 16 {
		t.Fatal(gufunc.Complex64)
	}
	if got := must(gufunc.PromoteTypes(gufunc.Int32, gufunc.Float32))(t); got != gufunc.Float64 {
		t.Fatal(got)
	}
	if must(gufunc.CanCast(gufunc.Float64, gufunc.Float32, gufunc.Safe))(t) {
		t.Fatal("float64 casts to float32 safely")
	}
	seconds := must(gufunc.DateTime64.WithUnit(gufunc.Second, 25))(t)
	unit, multiple, err := seconds.Unit()
	check(t, err)
	if seconds.String() != "datetime64[25s]" || unit != gufunc.Second || multiple != 25 {
		t.Fatal(seconds)
	}
	info := must(gufunc.Int16.Info())(t)
	if info.Kind != 'i' || info.Letter != 'h' || info.ShortName != "i2" {
		t.Fatal(info)
	}
	days := must(gufunc.ParseDType("M8[D]"))(t)
	stamps := must(gufunc.AllocAny(gufunc.Device{}, days, nil, 2))(t)
	typed := must(gufunc.As[gufunc.Time64](stamps))(t)
	data := must(typed.Data())(t)
	data[0], data[1] = 3, gufunc.NaT
	next := must(gufunc.Call[gufunc.Time64](gufunc.MustFind("add"), nil, typed, gufunc.Int(1)))(t)
	equal(t, must(next.Values())(t), []gufunc.Time64{4, gufunc.NaT})
	_, err = gufunc.As[float64](stamps)
	wantStatus(t, err, gufunc.ErrDType)
}

func TestHalves(t *testing.T) {
	for bits := range 1 << 16 { // a conversion and its inverse return the same bits
		half, brain := gufunc.Float16(bits), gufunc.BFloat16(bits)
		if wide := half.Float32(); wide == wide && gufunc.NewFloat16(wide) != half {
			t.Fatalf("float16 %#x", bits)
		}
		if wide := brain.Float32(); wide == wide && gufunc.NewBFloat16(wide) != brain {
			t.Fatalf("bfloat16 %#x", bits)
		}
	}
	var given []float32
	for i := range uint32(1 << 16) {
		given = append(given, math.Float32frombits(i*65521), math.Float32frombits(i<<13|0x1000))
	}
	a := must(gufunc.Of(given))(t)
	halves := must(gufunc.As[gufunc.Float16](must(a.AsType(gufunc.Float16Type, gufunc.SameKind,
		gufunc.COrder, nil))(t)))(t)
	brains := must(gufunc.As[gufunc.BFloat16](must(a.AsType(gufunc.BFloat16Type, gufunc.SameKind,
		gufunc.COrder, nil))(t)))(t)
	wide, narrow := must(halves.Values())(t), must(brains.Values())(t)
	for i, value := range given {
		if value == value && (gufunc.NewFloat16(value) != wide[i] ||
			gufunc.NewBFloat16(value) != narrow[i]) {
			t.Fatalf("%g: %#x %#x, the library has %#x %#x", value, gufunc.NewFloat16(value),
				gufunc.NewBFloat16(value), wide[i], narrow[i])
		}
	}
}

func TestScalars(t *testing.T) {
	add := gufunc.MustFind("add")
	small := must(gufunc.Of([]uint8{250}))(t)
	sum := must(gufunc.Call[uint8](add, nil, small, gufunc.Int(5)))(t)
	equal(t, must(sum.Values())(t), []uint8{255})
	wide := must(gufunc.Call[int16](add, nil, small, gufunc.Scalar[int16](300)))(t)
	equal(t, must(wide.Values())(t), []int16{550})
	largest := new(big.Int).SetUint64(math.MaxUint64)
	unsigned := must(gufunc.Of([]uint64{0}))(t)
	got := must(gufunc.Call[uint64](add, nil, unsigned, gufunc.BigInt(largest)))(t)
	equal(t, must(got.Values())(t), []uint64{math.MaxUint64})
	c := must(gufunc.Of([]complex64{1}))(t)
	z := must(gufunc.Call[complex64](add, nil, c, gufunc.Complex(2i)))(t)
	equal(t, must(z.Values())(t), []complex64{1 + 2i})
	days := must(gufunc.ParseDType("m8[D]"))(t)
	span := must(gufunc.ScalarOf(days, []byte{2, 0, 0, 0, 0, 0, 0, 0}))(t)
	total := must(gufunc.Call[gufunc.Delta64](add, nil, span, span))(t)
	equal(t, must(total.Values())(t), []gufunc.Delta64{4})
}
