// SPDX-License-Identifier: Apache-2.0

//go:build !gufunc_dlopen

// Callcost measures how much longer a call from Go takes than the same call from C, on one element.
// Many rounds alternate between C and Go, and the fastest round of each counts. With -bar, the
// program exits with 1 if the difference is above that number of nanoseconds or if the calls from
// Go allocate memory.
//
//	go run ./bench [-bar nanoseconds]
package main

/*
#include <gufunc/gufunc.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

// Returns the nanoseconds per call of `calls` calls of add on three arrays of one element, or -1 on
// failure.
static double call_from_c(int calls) {
  const int64_t one = 1;
  guf_operand operands[3] = {{0}};
  guf_ufunc add = NULL;
  guf_call_args args = {.struct_size = sizeof args, .ninputs = 2, .noutputs = 1};
  args.inputs = operands, args.outputs = operands + 2;
  if (guf_ufunc_find(NULL, "add", &add, NULL) != GUF_OK) return -1;
  for (int i = 0; i < 3; ++i) {
    operands[i].kind = GUF_OPERAND_ARRAY;
    if (guf_array_alloc(NULL, GUF_F64, 1, &one, NULL, 0, &operands[i].array, NULL) != GUF_OK)
      return -1;
  }
  guf_error error = {.struct_size = sizeof error};
  guf_status status = GUF_OK;
  const double begin = now();
  for (int i = 0; i < calls; ++i) status |= guf_call(add, &args, &error);
  const double each = (now() - begin) / calls;
  for (int i = 0; i < 3; ++i) guf_array_release(operands[i].array, NULL);
  guf_ufunc_release(add, NULL);
  return status == GUF_OK ? each : -1;
}
*/
// #cgo pkg-config: gufunc
import "C"

import (
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"
	"time"

	"example.org/gufunc"
)

const calls = 4000

func array(values ...float64) *gufunc.Array[float64] {
	a, err := gufunc.Alloc[float64](gufunc.Device{}, 1)
	if err != nil {
		log.Fatal(err)
	}
	if err := a.Fill(gufunc.Scalar(values[0]), nil); err != nil {
		log.Fatal(err)
	}
	return a
}

func callFromGo(add *gufunc.Ufunc, out, a, b *gufunc.Array[float64]) float64 {
	begin := time.Now()
	for range calls {
		if err := add.CallInto(out, a, b); err != nil {
			log.Fatal(err)
		}
	}
	return float64(time.Since(begin).Nanoseconds()) / calls
}

func main() {
	bar := flag.Float64("bar", 0, "exit with 1 above this number of nanoseconds; 0: only print")
	flag.Parse()
	add, err := gufunc.Find("add")
	if err != nil {
		log.Fatal(err)
	}
	a, b, out := array(1), array(2), array(0)
	fromC, fromGo := 1e9, 1e9
	callFromGo(add, out, a, b)
	for range 200 {
		each := float64(C.call_from_c(calls))
		if each < 0 {
			log.Fatal("the calls from C failed")
		}
		fromC = min(fromC, each)
		fromGo = min(fromGo, callFromGo(add, out, a, b))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	callFromGo(add, out, a, b)
	runtime.ReadMemStats(&after)
	allocated := float64(after.Mallocs-before.Mallocs) / calls
	if values, err := out.Values(); err != nil || values[0] != 3 {
		log.Fatal("1 + 2 is ", values, err)
	}
	fmt.Printf("C %.1f ns, Go %.1f ns: %.1f ns over C, %.3f allocations\n", fromC, fromGo,
		fromGo-fromC, allocated)
	if *bar > 0 && (fromGo-fromC > *bar || allocated > 0.01) {
		os.Exit(1)
	}
}
