// SPDX-License-Identifier: Apache-2.0

// Device_function computes x ** y / z, where x is a column, y is a row and z is a number, and then
// reduces the result.
package main

import (
	"example.org/gufunc"
	p "example.org/gufunc/internal/program"
)

func main() {
	s := p.Start("device_function")
	x, _ := p.Read[float64](s, "device_function_x")
	y, _ := p.Read[float64](s, "device_function_y")
	u := p.Must(gufunc.Find("power_over"))
	out := p.Must(gufunc.Call[float64](u, &gufunc.CallOptions{Device: s.Device}, x, y,
		gufunc.Int(7)))
	p.Write(s, "device_function_out", out)

	sum := p.Must(p.Must(gufunc.Find("add")).Reduce(
		&gufunc.ReduceOptions{Device: s.Device, AllAxes: true}, out))
	p.Write(s, "device_function_sum", p.Must(gufunc.As[float64](sum)))
	most := p.Must(p.Must(gufunc.Find("maximum")).Reduce(
		&gufunc.ReduceOptions{Device: s.Device, Axes: []int{1}, KeepDims: true}, out))
	p.Write(s, "device_function_most", p.Must(gufunc.As[float64](most)))
}
