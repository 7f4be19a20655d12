// SPDX-License-Identifier: Apache-2.0

// Package gufunc is NumPy's universal functions on the processor and on GPUs: the Go binding of
// libgufunc.
//
// An [Array] is a view of host or device memory; [Of] makes one of a slice without a copy. A
// [Ufunc] is found by name ([Find]), brought by a module of compiled kernels ([LoadModule]) or made
// of Go functions ([Create], [AddFunc2]), and applied to arrays and numbers by [Call],
// [Ufunc.Call] and [Ufunc.CallInto] or its methods [Ufunc.Reduce], [Ufunc.Accumulate],
// [Ufunc.Reduceat], [Ufunc.Outer] and [Ufunc.At], with NumPy's broadcasting, types and keywords.
//
// # Errors
//
// Every failure of the library is an [*Error], with its status, NumPy's text, and the operand and
// axis at fault. errors.Is(err, gufunc.ErrShape) asks for the status.
//
// # Memory
//
// Close gives an object back at once, and does nothing when it is called again; what is not closed
// the collector closes, but for modules. Slices that arrays were made of are kept as long as an
// array or queued work uses them.
//
// # Goroutines and waiting
//
// Everything may be used from any goroutine, as long as no array is written while another goroutine
// uses it. Calls on host memory return when they are done. Work on a [Stream], or on arrays of a
// device, is queued; waits take a context, whose end ends the wait and not the work.
package gufunc
