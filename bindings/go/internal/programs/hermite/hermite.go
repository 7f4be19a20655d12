// SPDX-License-Identifier: Apache-2.0

// Hermite calls a gufunc whose operand is both input and output. One call writes to a separate
// output; the other calls compute in place on a stream.
package main

import (
	"context"

	"example.org/gufunc"
	p "example.org/gufunc/internal/program"
)

func main() {
	s := p.Start("hermite")
	rows, _ := p.Read[float32](s, "hermite_rows")
	long, _ := p.Read[float64](s, "hermite_long")
	u := p.Must(gufunc.Find("hermite"))

	out := p.Must(gufunc.Full[float32](gufunc.Device{}, 9, rows.Shape()...))
	p.Must(u.Call(&gufunc.CallOptions{Device: s.Device, Out: []gufunc.Operand{out}}, rows))
	p.Write(s, "hermite_out", out)

	inPlace(s, u, "hermite_in_place", rows)
	inPlace(s, u, "hermite_long", long)
}

// inPlace copies the rows to the device, computes in place there, and copies the result back.
func inPlace[T gufunc.Element](s p.Setting, u *gufunc.Ufunc, name string, rows *gufunc.Array[T]) {
	stream := p.Must(s.Device.NewStream())
	defer stream.Close()
	there := p.Must(rows.ToDevice(s.Device, stream))
	defer there.Close()
	p.Must(u.Call(&gufunc.CallOptions{Stream: stream}, there))
	p.Check(there.CopyTo(rows, stream))
	p.Check(stream.Synchronize(context.Background()))
	p.Write(s, name, rows)
}
