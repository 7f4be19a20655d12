// SPDX-License-Identifier: Apache-2.0

// Discriminant calls a ufunc on three arrays, on numbers, and with a mask.
package main

import (
	"example.org/gufunc"
	p "example.org/gufunc/internal/program"
)

func main() {
	s := p.Start("discriminant")
	a, _ := p.Read[float32](s, "discriminant_a")
	b, _ := p.Read[float32](s, "discriminant_b")
	c, _ := p.Read[float32](s, "discriminant_c")
	mask, _ := p.Read[bool](s, "discriminant_mask")
	u := p.Must(gufunc.Find("discriminant"))

	options := gufunc.CallOptions{Device: s.Device}
	p.Write(s, "discriminant_x", p.Must(gufunc.Call[float32](u, &options, a, b, c)))
	numbers := p.Must(gufunc.Call[float32](u, &options, a, gufunc.Float(10.1), gufunc.Int(1)))
	p.Write(s, "discriminant_numbers", numbers)

	out := p.Must(gufunc.Full[float32](gufunc.Device{}, 7, a.Shape()...))
	options.Out, options.Where = []gufunc.Operand{out}, mask
	p.Must(u.Call(&options, a, b, c))
	p.Write(s, "discriminant_masked", out)
}
