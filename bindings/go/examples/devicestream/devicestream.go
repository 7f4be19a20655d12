// SPDX-License-Identifier: Apache-2.0

// Devicestream shows arrays that stay on a device, queued work, and a wait with a time limit.
//
//	devicestream [cpu, cuda:0, roc:0 ...]
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"example.org/gufunc"
)

func run(spec string) error {
	device, err := gufunc.FindDevice(spec)
	if err != nil {
		return err
	}
	stream, err := device.NewStream()
	if err != nil {
		return err
	}
	defer stream.Close()
	angles, err := gufunc.Of([]float32{0, .5, 1, 1.5})
	if err != nil {
		return err
	}
	there, err := angles.ToDevice(device, stream)
	if err != nil {
		return err
	}
	defer there.Close()
	options := gufunc.CallOptions{Stream: stream}
	squares, err := gufunc.Call[float32](gufunc.MustFind("square"), &options, there)
	if err != nil {
		return err
	}
	defer squares.Close()
	sum, err := gufunc.Call[float32](gufunc.MustFind("add"), &options, squares, gufunc.Int(1))
	if err != nil {
		return err
	}
	defer sum.Close()

	// The program has not waited so far, because all work is queued.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := stream.Synchronize(ctx); err != nil {
		return err
	}
	values := make([]float32, 4)
	if err := sum.CopyToHost(values, stream); err != nil {
		return err
	}
	fmt.Println(values)
	return nil
}

func main() {
	spec := "cpu"
	if len(os.Args) > 1 {
		spec = os.Args[1]
	}
	if err := run(spec); err != nil {
		log.Fatal(err)
	}
}
