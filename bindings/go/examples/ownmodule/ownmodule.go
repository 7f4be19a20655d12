// SPDX-License-Identifier: Apache-2.0

// Ownmodule calls a ufunc of a module that gufcc compiled from the program's own source.
//
//	ownmodule discriminant.so
package main

import (
	"fmt"
	"log"
	"os"

	"example.org/gufunc"
)

func main() {
	module, err := gufunc.LoadModule(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer module.Close()
	names, err := module.Functions()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(names)

	a, err := gufunc.Of([]float64{0, .25, .5, .75, 1})
	if err != nil {
		log.Fatal(err)
	}
	b, err := gufunc.Of([]float64{10, 10.1, 10.5, 10.7, 11})
	if err != nil {
		log.Fatal(err)
	}
	// The number .5 is converted to the dtype of the arrays.
	discriminant := gufunc.MustFind("discriminant")
	x, err := gufunc.Call[float64](discriminant, nil, a, b, gufunc.Float(.5))
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	fmt.Println(x)
}
