// SPDX-License-Identifier: Apache-2.0

// Matmulcore calls a gufunc on stacks of matrices, also with swapped axes.
package main

import (
	"example.org/gufunc"
	p "example.org/gufunc/internal/program"
)

func main() {
	s := p.Start("matmulcore")
	a, data := p.Read[float32](s, "matmulcore_a")
	b, _ := p.Read[float32](s, "matmulcore_b")
	u := p.Must(gufunc.Find("matmulcore"))
	options := gufunc.CallOptions{Device: s.Device}
	p.Write(s, "matmulcore_c", p.Must(gufunc.Call[float32](u, &options, a, b)))

	first := p.Must(gufunc.Of(data[:12], 3, 4))
	options.Axes = [][]int{{1, 0}, {1, 0}, {0, 1}}
	p.Write(s, "matmulcore_transposed", p.Must(gufunc.Call[float32](u, &options, b, first)))
}
