// SPDX-License-Identifier: Apache-2.0

package gufunc

// #include "block.h"
import "C"

import "runtime"

// Resolve and Explain for methods. Reduce, Accumulate and Reduceat have three operands: the result,
// the input, and the result again. At has the array, the operand of a binary ufunc, and the array
// again.

// ResolveReduce is like Resolve, for [Ufunc.Reduce].
func (u *Ufunc) ResolveReduce(options *ReduceOptions, input Operand) (*Resolution, error) {
	return resolveMethod(u, options, []Operand{input}, func(o *ReduceOptions, b *block) {
		o.prepare(b, input, 0)
	}, func(b *block, r *C.guf_resolution) error {
		return cResolveReduce(u.handle(), &b.c.reduce, r)
	})
}

// ResolveAccumulate is like Resolve, for [Ufunc.Accumulate].
func (u *Ufunc) ResolveAccumulate(options *AccumulateOptions, input Operand) (*Resolution, error) {
	return resolveMethod(u, options, []Operand{input}, func(o *AccumulateOptions, b *block) {
		o.prepare(b, input, nil)
	}, func(b *block, r *C.guf_resolution) error {
		return cResolveAccumulate(u.handle(), &b.c.accumulate, r)
	})
}

// ResolveReduceat is like Resolve, for [Ufunc.Reduceat].
func (u *Ufunc) ResolveReduceat(options *AccumulateOptions,
	input, indices Operand) (*Resolution, error) {
	return resolveMethod(u, options, []Operand{input, indices},
		func(o *AccumulateOptions, b *block) {
			o.prepare(b, input, indices)
		}, func(b *block, r *C.guf_resolution) error {
			return cResolveReduceat(u.handle(), &b.c.accumulate, r)
		})
}

// ResolveAt is like Resolve, for [Ufunc.At].
func (u *Ufunc) ResolveAt(options *AtOptions, array AnyOperand, indices []Operand,
	operand Operand) (*Resolution, error) {
	defer runtime.KeepAlive(array)
	defer runtime.KeepAlive(indices)
	return resolveMethod(u, options, []Operand{operand}, func(o *AtOptions, b *block) {
		o.prepare(b, array, indices, operand)
	}, func(b *block, r *C.guf_resolution) error {
		return cResolveAt(u.handle(), &b.c.at, r)
	})
}

func resolveMethod[O any](u *Ufunc, options *O, inputs []Operand, prepare func(o *O, b *block),
	resolve func(b *block, r *C.guf_resolution) error) (made *Resolution, err error) {
	err = with(u, options, inputs, func(o *O, b *block) error {
		prepare(o, b)
		made, err = resolution(1, func(r *C.guf_resolution) error { return resolve(b, r) })
		return err
	})
	return made, err
}

// ExplainReduce is like Explain, for [Ufunc.Reduce].
func (u *Ufunc) ExplainReduce(options *ReduceOptions, input Operand) (string, error) {
	return explainMethod(u, options, []Operand{input}, func(o *ReduceOptions, b *block) {
		o.prepare(b, input, 0)
	}, func(b *block, text *C.char, length *C.uint64_t) error {
		return cExplainReduce(u.handle(), &b.c.reduce, text, length)
	})
}

// ExplainAccumulate is like Explain, for [Ufunc.Accumulate].
func (u *Ufunc) ExplainAccumulate(options *AccumulateOptions, input Operand) (string, error) {
	return explainMethod(u, options, []Operand{input}, func(o *AccumulateOptions, b *block) {
		o.prepare(b, input, nil)
	}, func(b *block, text *C.char, length *C.uint64_t) error {
		return cExplainAccumulate(u.handle(), &b.c.accumulate, text, length)
	})
}

// ExplainReduceat is like Explain, for [Ufunc.Reduceat].
func (u *Ufunc) ExplainReduceat(options *AccumulateOptions,
	input, indices Operand) (string, error) {
	return explainMethod(u, options, []Operand{input, indices},
		func(o *AccumulateOptions, b *block) {
			o.prepare(b, input, indices)
		}, func(b *block, text *C.char, length *C.uint64_t) error {
			return cExplainReduceat(u.handle(), &b.c.accumulate, text, length)
		})
}

// ExplainAt is like Explain, for [Ufunc.At].
func (u *Ufunc) ExplainAt(options *AtOptions, array AnyOperand, indices []Operand,
	operand Operand) (string, error) {
	defer runtime.KeepAlive(array)
	defer runtime.KeepAlive(indices)
	return explainMethod(u, options, []Operand{operand}, func(o *AtOptions, b *block) {
		o.prepare(b, array, indices, operand)
	}, func(b *block, text *C.char, length *C.uint64_t) error {
		return cExplainAt(u.handle(), &b.c.at, text, length)
	})
}

func explainMethod[O any](u *Ufunc, options *O, inputs []Operand, prepare func(o *O, b *block),
	explain func(b *block, text *C.char, length *C.uint64_t) error) (made string, err error) {
	err = with(u, options, inputs, func(o *O, b *block) error {
		prepare(o, b)
		made, err = textOf(func(text *C.char, length *C.uint64_t) error {
			return explain(b, text, length)
		})
		return err
	})
	return made, err
}
