// SPDX-License-Identifier: Apache-2.0

package gufunc_test

import (
	"context"
	"errors"
	"fmt"

	"example.org/gufunc"
)

func Example() {
	a, _ := gufunc.Of([]float64{1, 2, 3, 4}, 2, 2)
	b, _ := gufunc.Of([]float64{10, 20})
	sum, err := gufunc.Call[float64](gufunc.MustFind("add"), nil, a, b)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sum.Close()
	fmt.Println(sum)
	// Output:
	// [[11. 22.]
	//  [13. 24.]]
	// shape (2, 2), float64, cpu
}

func ExampleError() {
	a, _ := gufunc.Of([]float64{1, 2, 3})
	b, _ := gufunc.Of([]float64{1, 2})
	_, err := gufunc.MustFind("add").Call(nil, a, b)
	var failed *gufunc.Error
	if errors.As(err, &failed) {
		fmt.Println(errors.Is(err, gufunc.ErrShape), failed.Status.String(), failed.Argument)
	}
	// Output: true GUF_E_SHAPE 1
}

func ExampleUfunc_CallInto() {
	data := []float32{1, 4, 9}
	a, _ := gufunc.Of(data)
	if err := gufunc.MustFind("sqrt").CallInto(a, a); err != nil {
		fmt.Println(err)
	}
	fmt.Println(data)
	// Output: [1 2 3]
}

func ExampleUfunc_Reduce() {
	a, _ := gufunc.Of([]int64{1, 2, 3, 4, 5, 6}, 2, 3)
	most, err := gufunc.MustFind("maximum").Reduce(&gufunc.ReduceOptions{Axes: []int{1}}, a)
	fmt.Println(most, err)
	// Output:
	// [3 6]
	// shape (2,), int64, cpu <nil>
}

func ExampleArray_Slice() {
	a, _ := gufunc.Of([]int32{0, 1, 2, 3, 4, 5}, 2, 3)
	v, _ := a.Slice(gufunc.All(), gufunc.All().By(-2)) // a[:, ::-2]
	values, err := v.Values()
	fmt.Println(v.Shape(), values, err)
	// Output: [2 2] [2 0 5 3] <nil>
}

func ExampleStream_Synchronize() {
	device, _ := gufunc.FindDevice("cpu")
	stream, _ := device.NewStream()
	defer stream.Close()
	a, _ := gufunc.Full(device, 3.0, 4)
	options := gufunc.CallOptions{Stream: stream}
	squares, err := gufunc.Call[float64](gufunc.MustFind("square"), &options, a)
	if err == nil {
		err = stream.Synchronize(context.Background())
	}
	values, _ := squares.Values()
	fmt.Println(values, err)
	// Output: [9 9 9 9] <nil>
}

func ExampleAddFunc2() {
	u, _ := gufunc.Create(gufunc.UfuncDesc{Name: "example_mean", NIn: 2, NOut: 1})
	defer u.Close()
	_ = gufunc.AddFunc2(u, func(a, b float64) float64 { return (a + b) / 2 })
	a, _ := gufunc.Of([]float64{1, 3})
	mean, _ := gufunc.Call[float64](u, nil, a, gufunc.Float(5))
	values, err := mean.Values()
	fmt.Println(values, err)
	// Output: [3 4] <nil>
}
