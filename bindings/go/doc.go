// SPDX-License-Identifier: Apache-2.0

// Package gufunc is the Go binding of libgufunc: NumPy's universal functions on the cpu and on
// GPUs.
//
// An [Array] is a view of host or device memory; [Of] makes one from a slice without a copy. A
// [Ufunc] is found by name ([Find]), provided by a module of compiled kernels ([LoadModule]) or
// made from Go functions ([Create], [AddFunc2]). [Call], [Ufunc.Call] and [Ufunc.CallInto] apply a
// ufunc to arrays and numbers, and so do its methods [Ufunc.Reduce], [Ufunc.Accumulate],
// [Ufunc.Reduceat], [Ufunc.Outer] and [Ufunc.At]. Broadcasting, dtypes and keywords are NumPy's.
//
// # Errors
//
// Every failure of the library is an [*Error] with its status, NumPy's text, and the operand and
// axis at fault. errors.Is(err, gufunc.ErrShape) tests for a status.
//
// # Memory
//
// Close frees an object immediately and does nothing when it is called again. The garbage collector
// closes objects that the program did not close, except modules. A slice from which an array was
// made is kept alive as long as an array or queued work uses it.
//
// # Goroutines and waiting
//
// Everything may be used from any goroutine, as long as no array is written while another goroutine
// uses it. Calls on host memory return when they are complete. Work on a [Stream], or on arrays of
// a GPU, is queued. Functions that wait accept a context. When the context ends, the wait ends but
// the work continues.
package gufunc
