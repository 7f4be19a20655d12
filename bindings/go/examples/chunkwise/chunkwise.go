// SPDX-License-Identifier: Apache-2.0

// Chunkwise runs a call in chunks. The call reports its progress, is stopped, and is resumed.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"example.org/gufunc"
)

func main() {
	const size = 100_000
	data, result := make([]float64, size), make([]float64, size)
	for i := range data {
		data[i] = float64(i)
	}
	in, err := gufunc.Of(data)
	if err != nil {
		log.Fatal(err)
	}
	out, err := gufunc.Of(result)
	if err != nil {
		log.Fatal(err)
	}
	sqrt := gufunc.MustFind("sqrt")
	options := gufunc.CallOptions{Out: []gufunc.Operand{out}}

	ctx, cancel := context.WithCancel(context.Background())
	chunks := gufunc.ChunkOptions{ChunkBytes: 160_000, Progress: func(done, items int) bool {
		fmt.Println(done, "of", items)
		if done >= size/2 {
			cancel()
		}
		return true
	}}
	items, err := sqrt.CallChunked(ctx, &options, &chunks, in)
	fmt.Println(errors.Is(err, context.Canceled), items)

	chunks.FirstItem = items
	items, err = sqrt.CallChunked(context.Background(), &options, &chunks, in)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(items, result[90_000])
}
