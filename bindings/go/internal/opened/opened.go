// SPDX-License-Identifier: Apache-2.0

// Opened opens the library and calls one of its functions. Without a path, the dynamic loader finds
// the library. The program is built twice: linked with the library, and with the tag gufunc_dlopen,
// which opens the library at run time.
//
//	opened [path]
package main

import (
	"fmt"
	"os"

	"example.org/gufunc"
)

func main() {
	path := ""
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	if err := gufunc.Open(path); err != nil {
		fmt.Println("Open:", err)
	}
	if err := called(); err != nil {
		fmt.Println("a call:", err)
		os.Exit(1)
	}
}

func called() error {
	a, err := gufunc.Of([]float64{1, 2, 3})
	if err != nil {
		return err
	}
	defer a.Close()
	sum, err := gufunc.Call[float64](gufunc.MustFind("add"), nil, a, gufunc.Int(1))
	if err != nil {
		return err
	}
	defer sum.Close()
	fmt.Println(gufunc.Version(), sum)
	return nil
}
