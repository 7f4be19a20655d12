// SPDX-License-Identifier: Apache-2.0

// Cumulative_power calls a gufunc whose operand is both input and output. One call writes to a
// separate output, one call works in place, and one call works in place along another axis.
package main

import (
	"example.org/gufunc"
	p "example.org/gufunc/internal/program"
)

func main() {
	s := p.Start("cumulative_power")
	rows, _ := p.Read[float32](s, "cumulative_power_rows")
	columns, _ := p.Read[float64](s, "cumulative_power_columns")
	u := p.Must(gufunc.Find("cumulative_power"))

	// The call with a separate output runs first, because the call in place changes the rows.
	reversed := p.Must(gufunc.Full[float32](gufunc.Device{}, 0, rows.Shape()...))
	fromTheEnd := p.Must(reversed.Slice(gufunc.All(), gufunc.All().By(-1)))
	p.Must(u.Call(&gufunc.CallOptions{Device: s.Device, Out: []gufunc.Operand{fromTheEnd}}, rows))
	p.Write(s, "cumulative_power_reversed", reversed)

	p.Must(u.Call(&gufunc.CallOptions{Device: s.Device}, rows))
	p.Write(s, "cumulative_power_rows", rows)

	p.Must(u.Call(&gufunc.CallOptions{Device: s.Device, Axis: gufunc.Axis(0)}, columns))
	p.Write(s, "cumulative_power_columns", columns)
}
