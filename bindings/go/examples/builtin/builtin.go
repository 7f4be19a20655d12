// SPDX-License-Identifier: Apache-2.0

// Builtin applies ufuncs that are part of libgufunc to slices and arrays.
package main

import (
	"errors"
	"fmt"
	"log"

	"example.org/gufunc"
)

func main() {
	table, err := gufunc.Of([]float64{1, 2, 3, 4, 5, 6}, 2, 3) // a view of the slice, without a copy
	if err != nil {
		log.Fatal(err)
	}
	row, err := gufunc.Of([]float64{10, 20, 30})
	if err != nil {
		log.Fatal(err)
	}
	add := gufunc.MustFind("add")
	sum, err := gufunc.Call[float64](add, nil, table, row)
	if err != nil {
		log.Fatal(err)
	}
	defer sum.Close()
	fmt.Println(sum)

	// The call writes into existing memory: out receives the result.
	out := make([]float64, 6)
	result, err := gufunc.Of(out, 2, 3)
	if err != nil {
		log.Fatal(err)
	}
	if err := gufunc.MustFind("sqrt").CallInto(result, table); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", out)

	most, err := gufunc.MustFind("maximum").Reduce(&gufunc.ReduceOptions{Axes: []int{1}}, table)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(most)

	pair, err := gufunc.Of([]float64{1, 2})
	if err != nil {
		log.Fatal(err)
	}
	_, err = add.Call(nil, table, pair)
	fmt.Println(errors.Is(err, gufunc.ErrShape), err)
}
