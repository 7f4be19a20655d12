// SPDX-License-Identifier: Apache-2.0

// Hostloop uses Go functions as ufuncs, with the library's broadcasting, dtypes and reductions.
package main

import (
	"fmt"
	"log"

	"example.org/gufunc"
)

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func main() {
	u, err := gufunc.Create(gufunc.UfuncDesc{Name: "my_gcd", NIn: 2, NOut: 1,
		Identity: gufunc.Reorderable, Flags: gufunc.Commutative | gufunc.Associative})
	if err != nil {
		log.Fatal(err)
	}
	defer u.Close()
	if err := gufunc.AddFunc2(u, gcd); err != nil {
		log.Fatal(err)
	}
	a, err := gufunc.Of([]int64{12, 18, 30, 7}, 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	made, err := gufunc.Call[int64](u, nil, a, gufunc.Int(6))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(made)
	rows, err := u.Reduce(&gufunc.ReduceOptions{Axes: []int{1}}, a)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rows)
}
