// SPDX-License-Identifier: Apache-2.0

// Smallmatrices applies the generalized ufunc (m,n),(n,p)->(m,p) to a stack of matrices and a
// single matrix.
//
//	smallmatrices matmulcore.so
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
	matmul := gufunc.MustFind("matmulcore")
	info, err := matmul.Info()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Name, info.Signature)

	stack, err := gufunc.Of([]float32{0, 1, 2, 3, 4, 5, 6, 7}, 2, 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	rotation, err := gufunc.Of([]float32{0, 1, -1, 0}, 2, 2)
	if err != nil {
		log.Fatal(err)
	}
	rotated, err := gufunc.Call[float32](matmul, nil, stack, rotation)
	if err != nil {
		log.Fatal(err)
	}
	defer rotated.Close()
	fmt.Println(rotated)
}
