// SPDX-License-Identifier: Apache-2.0

package gufunc_test

import (
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"example.org/gufunc"
)

// Every method of a nil object, called with nil and zero arguments, returns an error or a zero
// value and does not panic.
func TestNilObjectsAnswer(t *testing.T) {
	for _, object := range []any{(*gufunc.Array[float64])(nil), (*gufunc.AnyArray)(nil),
		(*gufunc.Context)(nil), (*gufunc.Event)(nil), (*gufunc.FPStatus)(nil), (*gufunc.Graph)(nil),
		(*gufunc.Kernel)(nil), (*gufunc.Module)(nil), (*gufunc.Plan)(nil),
		(*gufunc.Registered)(nil), (*gufunc.Stream)(nil), (*gufunc.Ufunc)(nil), gufunc.Device{},
		gufunc.DType(0), &gufunc.FPStatus{}} {
		value := reflect.ValueOf(object)
		for i := range value.NumMethod() {
			name := value.Type().String() + "." + value.Type().Method(i).Name
			method := value.Method(i)
			var arguments []reflect.Value
			for k := range method.Type().NumIn() {
				arguments = append(arguments, reflect.Zero(method.Type().In(k)))
			}
			call := method.Call
			if method.Type().IsVariadic() {
				call = method.CallSlice
			}
			func() {
				defer func() {
					if problem := recover(); problem != nil {
						t.Errorf("%s: %v", name, problem)
					}
				}()
				call(arguments)
			}()
		}
	}
}

// A nil array of any type means no operand: for a nil output, the call allocates and returns an
// array.
func TestNilArraysAreMissingOperands(t *testing.T) {
	add, a := gufunc.MustFind("add"), must(gufunc.Of([]float64{1, 2, 3}))(t)
	var typed *gufunc.Array[float64]
	var untyped *gufunc.AnyArray
	for _, none := range []gufunc.AnyOperand{typed, untyped, nil} {
		options := gufunc.CallOptions{Out: []gufunc.Operand{none}, Where: none}
		made := must(add.Call(&options, a, a))(t)
		equal(t, must(must(gufunc.As[float64](made[0]))(t).Values())(t), []float64{2, 4, 6})
		sum := must(add.Reduce(&gufunc.ReduceOptions{Out: none, Where: none}, a))(t)
		equal(t, must(must(gufunc.As[float64](sum))(t).Values())(t), []float64{6})
		running := must(add.Accumulate(&gufunc.AccumulateOptions{Out: none}, a))(t)
		equal(t, must(must(gufunc.As[float64](running))(t).Values())(t), []float64{1, 3, 6})
		check(t, add.CallInto(none, a, a))
		_, err := add.Call(nil, none, a)
		wantStatus(t, err, gufunc.ErrArg)
		_, err = gufunc.Call[float32](add, &options, a, a) // Call closes its new output
		wantStatus(t, err, gufunc.ErrDType)
		wantStatus(t, a.CopyTo(none, nil), gufunc.ErrHandle)
		wantStatus(t, a.Assign(none, gufunc.SameKind, nil), gufunc.ErrHandle)
	}
	_, err := add.Call(nil, gufunc.BigInt(nil), a)
	wantStatus(t, err, gufunc.ErrArg)
	divide, zeros := gufunc.MustFind("divide"), gufunc.CallOptions{FPStatus: &gufunc.FPStatus{}}
	must(divide.Call(&zeros, a, gufunc.Float(0)))(t)
	if typed.String() != "no array" || typed.Any() != nil || typed.Close() != nil {
		t.Fatal(typed)
	}
	cpu := must(gufunc.FindDevice("cpu"))(t)
	check(t, cpu.Synchronize(nil))
}

// The caller closes an array that a call allocated for a nil output. Nothing else holds a reference
// to this array.
func TestNilOutputsDoNotLeak(t *testing.T) {
	negative := gufunc.MustFind("negative")
	for _, d := range devices(t) {
		if _, err := d.Memory(); errors.Is(err, gufunc.ErrUnsupported) {
			continue
		}
		a := must(gufunc.Full(d, float32(1), 1<<20))(t)
		out := []gufunc.Operand{(*gufunc.AnyArray)(nil)}
		check(t, d.Synchronize(nil))
		before := must(d.Memory())(t).Live
		for range 4 {
			made := must(negative.Call(&gufunc.CallOptions{Out: out}, a))(t)
			check(t, made[0].Close())
			check(t, negative.CallInto((*gufunc.Array[float32])(nil), a))
		}
		check(t, d.Synchronize(nil))
		must(gufunc.Poll(0))(t)
		if after := must(d.Memory())(t).Live; after > before {
			t.Fatalf("%v: %d bytes more", d, after-before)
		}
		runtime.KeepAlive(a)
	}
}

// A NUL byte ends a C string. The rest of the text must not be dropped silently.
func TestTextsWithZeroBytesAreRefused(t *testing.T) {
	own := must(gufunc.NewContext())(t)
	u := must(own.Create(gufunc.UfuncDesc{Name: "whole", Signature: "(n)->(n)"}))(t)
	refused := map[string]error{}
	note := func(name string, err error) { refused[name] = err }
	_, err := gufunc.Find("add\x00ed")
	note("Find", err)
	_, err = gufunc.FindDevice("cpu\x00:7")
	note("FindDevice", err)
	_, err = gufunc.AdoptDevice("cpu\x00:7", 1)
	note("AdoptDevice", err)
	_, err = gufunc.ParseDType("f4\x00f8")
	note("ParseDType", err)
	_, err = gufunc.RegisterDType("cut\x00off", 8, 8)
	note("RegisterDType", err)
	_, err = gufunc.LoadModule("/nowhere.so\x00.bak")
	note("LoadModule", err)
	note("LoadBackend", gufunc.LoadBackend("/nowhere.so\x00.bak"))
	_, err = (*gufunc.Module)(nil).Kernel("kernel\x00s")
	note("Kernel", err)
	note("AddModuleLoop", u.AddModuleLoop(nil, "function\x00s", nil))
	for name, desc := range map[string]gufunc.UfuncDesc{
		"name":      {Name: "one\x00two", NIn: 1, NOut: 1},
		"signature": {Name: "zero1", Signature: "(n)->(n)\x00,(m)"},
		"rules":     {Name: "zero2", Signature: "(n)->(m)", Rules: "m=n+1\x00; m=2"},
		"doc":       {Name: "zero3", NIn: 1, NOut: 1, Doc: "what\x00 it does"},
	} {
		_, err = own.Create(desc)
		note("Create "+name, err)
	}
	a := must(gufunc.Of([]float64{1, 2}))(t)
	named := &gufunc.CallOptions{Dims: []gufunc.Dim{{Name: "n\x00m", Size: 2}}}
	_, err = u.Call(named, a)
	note("Dims", err)
	_, err = u.Explain(named, a)
	note("Explain", err)
	for name, err := range refused {
		if !errors.Is(err, gufunc.ErrArg) || !strings.Contains(err.Error(), `\x00`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// ScalarOf rejects a number of bytes that is not the item size.
func TestScalarsHaveTheirBytes(t *testing.T) {
	structured := must(gufunc.RegisterDType("forty_bytes", 40, 8))(t)
	for _, refused := range []struct {
		dtype gufunc.DType
		bytes int
	}{{gufunc.Float64, 1}, {gufunc.Float64, 40}, {gufunc.Float64, 0}, {gufunc.Int8, 2},
		{structured, 40}, {structured, 16}, {0, 0}, {0, 8}} {
		_, err := gufunc.ScalarOf(refused.dtype, make([]byte, refused.bytes))
		wantStatus(t, err, gufunc.ErrDType)
	}
	three := must(gufunc.ScalarOf(gufunc.Int16, []byte{3, 0}))(t)
	a := must(gufunc.Of([]int16{1, 2}))(t)
	sum := must(gufunc.Call[int16](gufunc.MustFind("add"), nil, a, three))(t)
	equal(t, must(sum.Values())(t), []int16{4, 5})
}
