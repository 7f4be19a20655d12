// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import "runtime"

// This file contains Resolve and Explain for methods. The operands of the loop are, for Reduce,
// Accumulate and Reduceat, the result, the input, and the result again. For At they are the array,
// the operand of a binary ufunc, and the array again.

// ResolveReduce is like Resolve, for [Ufunc.Reduce].
func (u *Ufunc) ResolveReduce(options *ReduceOptions, input Operand) (*Resolution, error) {
	return resolveMethod(u, options, []Operand{input}, func(o *ReduceOptions, b *block) {
		o.prepare(b, input, 0)
	}, cGUF_OPERATION_REDUCE)
}

// ResolveAccumulate is like Resolve, for [Ufunc.Accumulate].
func (u *Ufunc) ResolveAccumulate(options *AccumulateOptions, input Operand) (*Resolution, error) {
	return resolveMethod(u, options, []Operand{input}, func(o *AccumulateOptions, b *block) {
		o.prepare(b, input, nil)
	}, cGUF_OPERATION_ACCUMULATE)
}

// ResolveReduceat is like Resolve, for [Ufunc.Reduceat].
func (u *Ufunc) ResolveReduceat(options *AccumulateOptions,
	input, indices Operand) (*Resolution, error) {
	return resolveMethod(u, options, []Operand{input, indices},
		func(o *AccumulateOptions, b *block) {
			o.prepare(b, input, indices)
		}, cGUF_OPERATION_REDUCEAT)
}

// ResolveAt is like Resolve, for [Ufunc.At].
func (u *Ufunc) ResolveAt(options *AtOptions, array AnyOperand, indices []Operand,
	operand Operand) (*Resolution, error) {
	defer runtime.KeepAlive(array)
	defer runtime.KeepAlive(indices)
	return resolveMethod(u, options, []Operand{operand}, func(o *AtOptions, b *block) {
		o.prepare(b, array, indices, operand)
	}, cGUF_OPERATION_AT)
}

func resolveMethod[O any](u *Ufunc, options *O, inputs []Operand, prepare func(o *O, b *block),
	operation int32) (made *Resolution, err error) {
	err = with(u, options, inputs, func(o *O, b *block) error {
		prepare(o, b)
		made, err = u.resolution(b, operation, 1)
		return err
	})
	return made, err
}

// ExplainReduce is like Explain, for [Ufunc.Reduce].
func (u *Ufunc) ExplainReduce(options *ReduceOptions, input Operand) (string, error) {
	return explainMethod(u, options, []Operand{input}, func(o *ReduceOptions, b *block) {
		o.prepare(b, input, 0)
	}, cGUF_OPERATION_REDUCE)
}

// ExplainAccumulate is like Explain, for [Ufunc.Accumulate].
func (u *Ufunc) ExplainAccumulate(options *AccumulateOptions, input Operand) (string, error) {
	return explainMethod(u, options, []Operand{input}, func(o *AccumulateOptions, b *block) {
		o.prepare(b, input, nil)
	}, cGUF_OPERATION_ACCUMULATE)
}

// ExplainReduceat is like Explain, for [Ufunc.Reduceat].
func (u *Ufunc) ExplainReduceat(options *AccumulateOptions,
	input, indices Operand) (string, error) {
	return explainMethod(u, options, []Operand{input, indices},
		func(o *AccumulateOptions, b *block) {
			o.prepare(b, input, indices)
		}, cGUF_OPERATION_REDUCEAT)
}

// ExplainAt is like Explain, for [Ufunc.At].
func (u *Ufunc) ExplainAt(options *AtOptions, array AnyOperand, indices []Operand,
	operand Operand) (string, error) {
	defer runtime.KeepAlive(array)
	defer runtime.KeepAlive(indices)
	return explainMethod(u, options, []Operand{operand}, func(o *AtOptions, b *block) {
		o.prepare(b, array, indices, operand)
	}, cGUF_OPERATION_AT)
}

func explainMethod[O any](u *Ufunc, options *O, inputs []Operand, prepare func(o *O, b *block),
	operation int32) (made string, err error) {
	err = with(u, options, inputs, func(o *O, b *block) error {
		prepare(o, b)
		made, err = u.explanation(b, operation)
		return err
	})
	return made, err
}
