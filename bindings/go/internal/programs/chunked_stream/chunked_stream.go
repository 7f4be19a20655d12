// SPDX-License-Identifier: Apache-2.0

// Chunked_stream runs a large call in chunks twice. First the library divides the call, then the
// program divides it and queues the chunks on a stream.
package main

import (
	"context"

	"example.org/gufunc"
	p "example.org/gufunc/internal/program"
)

const piece = 30_000

func main() {
	s := p.Start("discriminant")
	var inputs []*gufunc.Array[float64]
	for _, name := range []string{"a", "b", "c"} {
		array, _ := p.Read[float64](s, "chunked_stream_"+name)
		inputs = append(inputs, array)
	}
	u := p.Must(gufunc.Find("discriminant"))
	size := inputs[0].Size()
	byLibrary(s, u, inputs, size)
	byHand(s, u, inputs, size)
}

func byLibrary(s p.Setting, u *gufunc.Ufunc, in []*gufunc.Array[float64], size int) {
	out := p.Must(gufunc.Alloc[float64](gufunc.Device{}, size))
	report := make([]int64, 2) // numbers of completed outer items and of calls of Progress
	chunks := gufunc.ChunkOptions{ChunkBytes: 65536, Progress: func(done, items int) bool {
		report[0], report[1] = int64(done), report[1]+1
		return true
	}}
	options := gufunc.CallOptions{Device: s.Device, Out: []gufunc.Operand{out}}
	p.Must(u.CallChunked(context.Background(), &options, &chunks, in[0], in[1], in[2]))
	p.Write(s, "chunked_stream_x", out)
	p.Write(s, "chunked_stream_progress", p.Must(gufunc.Of(report)))
}

// byHand copies each chunk to the device, computes it and copies the result back. All of this work
// is queued on one stream.
func byHand(s p.Setting, u *gufunc.Ufunc, in []*gufunc.Array[float64], size int) {
	stream := p.Must(s.Device.NewStream())
	defer stream.Close()
	out := p.Must(gufunc.AllocHost[float64](s.Device, gufunc.Pinned, size))
	for begin := 0; begin < size; begin += piece {
		part := gufunc.Between(begin, min(begin+piece, size))
		var given []gufunc.Operand
		for _, whole := range in {
			given = append(given, p.Must(p.Must(whole.Slice(part)).ToDevice(s.Device, stream)))
		}
		options := gufunc.CallOptions{Device: s.Device, Stream: stream}
		made := p.Must(gufunc.Call[float64](u, &options, given...))
		p.Check(made.CopyTo(p.Must(out.Slice(part)), stream))
	}
	p.Check(stream.Synchronize(context.Background()))
	p.Write(s, "chunked_stream_by_hand", out)
}
