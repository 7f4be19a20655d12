// SPDX-License-Identifier: Apache-2.0
// The loops of the cpu backend, with NumPy's inner-loop signature: gufcc instantiates one entry per
// type loop and ISA level. An output is disjoint from each input or exactly the same view.
#ifndef GUFUNC_KERNEL_HOST_LOOPS_HPP
#define GUFUNC_KERNEL_HOST_LOOPS_HPP

#include "group.hpp"
#include "host_memory.hpp"
#include "sequence.hpp"
#include "views.hpp"

namespace guf {
namespace host {

// ---- elementwise

// One output: the function returns it.
template <class Op, class Out, class... In>
GUF_FN void sweep(i64 n, Out out, In... in) {
  GUF_INDEPENDENT
  for (i64 i = 0; i < n; ++i) out.put(i, Op::call(in.get(i)...));
}

// Several: the function takes a reference to each, after its inputs.
template <class Op, class Out0, class Out1, class... In>
GUF_FN void sweep2(i64 n, Out0 out0, Out1 out1, In... in) {
  GUF_INDEPENDENT
  for (i64 i = 0; i < n; ++i) {
    typename Out0::value first{};
    typename Out1::value second{};
    Op::call(in.get(i)..., first, second);
    out0.put(i, first);
    out1.put(i, second);
  }
}
template <class Op, class Out0, class Out1, class Out2, class... In>
GUF_FN void sweep3(i64 n, Out0 out0, Out1 out1, Out2 out2, In... in) {
  GUF_INDEPENDENT
  for (i64 i = 0; i < n; ++i) {
    typename Out0::value first{};
    typename Out1::value second{};
    typename Out2::value third{};
    Op::call(in.get(i)..., first, second, third);
    out0.put(i, first);
    out1.put(i, second);
    out2.put(i, third);
  }
}

template <class Op, class Ins, class Outs>
struct elementwise;

template <class Op, class... A, class... R>
struct elementwise<Op, types<A...>, types<R...>> {
  static constexpr int nin = (int)sizeof...(A);
  static constexpr int nout = (int)sizeof...(R);
  static_assert(nout >= 1 && nout <= 3, "an elementwise function has one to three outputs");
  // Scalar operands get loops of their own, all but "all are scalars": 2^nin - 1 loops.
  static constexpr int masks = nin >= 1 && nin <= 3 ? (1 << nin) - 1 : 1;

  static GUF_FN void run(char **args, const i64 *dims, const i64 *steps) {
    const int mask = packed_mask(steps, make_indices<nin>(), make_indices<nout>());
    if (GUF_LIKELY(mask >= 0 && mask < masks)) {
      run_packed(mask, args, dims[0], make_indices<masks>());
    } else {
      run_strided(args, dims[0], steps, make_indices<nin>(), make_indices<nout>());
    }
  }

 private:
  // Bit i: input i is a scalar; -1: some operand is neither contiguous nor a scalar input.
  template <int... I, int... O>
  static GUF_FN int packed_mask(const i64 *steps, indices<I...>, indices<O...>) {
    const bool packed = ((steps[I] == 0 || steps[I] == (i64)sizeof(A)) && ... && true) &&
                        ((steps[nin + O] == (i64)sizeof(R)) && ...);
    return packed ? ((steps[I] == 0 ? 1 << I : 0) | ... | 0) : -1;
  }

  template <int... M>
  static GUF_FN void run_packed(int mask, char **args, i64 n, indices<M...>) {
    (void)((mask == M &&
            (run_masked<M>(args, n, make_indices<nin>(), make_indices<nout>()), true)) ||
           ...);
  }

  template <bool Scalar, class T>
  static GUF_FN auto input(const char *base) {
    if constexpr (Scalar) {
      return scalar_input<T>{cast<value_t<T>>(memory<T>::load(base))};
    } else {
      return packed_input<T>{base};
    }
  }

  template <int M, int... I, int... O>
  static __attribute__((noinline)) void run_masked(char **args, i64 n, indices<I...>,
                                                   indices<O...>) {
    go(n, types<R...>(), packed_output<R>{args[nin + O]}..., input < ((M >> I) & 1) != 0,
       A > (args[I])...);
  }

  template <int... I, int... O>
  static __attribute__((noinline)) void run_strided(char **args, i64 n, const i64 *steps,
                                                    indices<I...>, indices<O...>) {
    go(n, types<R...>(), strided_output<R>{args[nin + O], steps[nin + O]}...,
       strided_input<A>{args[I], steps[I]}...);
  }

  template <class... Operand>
  static GUF_FN void go(i64 n, types<R...>, Operand... operand) {
    if constexpr (nout == 1) {
      sweep<Op>(n, operand...);
    } else if constexpr (nout == 2) {
      sweep2<Op>(n, operand...);
    } else {
      sweep3<Op>(n, operand...);
    }
  }
};

// ---- generalized

enum class role { in, out, inout };

// An operand of a generalized function: element type, role, and which of the signature's distinct
// dimensions its core dimensions are, in order.
template <class T, role Role, int... D>
struct operand {
  static constexpr int ndim = (int)sizeof...(D);

  static GUF_FN bool packed(const i64 *core_steps) {
    return ndim == 0 || core_steps[ndim - 1] == (i64)sizeof(T);
  }

  // `sizes`: one per distinct dimension. Inputs without core dimensions are values.
  template <bool Packed>
  static GUF_FN auto argument(char *base, const i64 *sizes, const i64 *core_steps) {
    if constexpr (Role == role::in && ndim == 0) {
      (void)sizes, (void)core_steps;
      return cast<value_t<T>>(memory<T>::load(base));
    } else if constexpr (Role == role::in) {
      const i64 extents[] = {sizes[D]..., 0};
      return view<const T, ndim, Packed>(base, extents, core_steps);
    } else {
      const i64 extents[] = {sizes[D]..., 0};
      return view<T, ndim, Packed>(base, extents, core_steps);
    }
  }
};

// Cooperative: Op::call takes a group first.
template <class Op, bool Cooperative, class... Operand>
struct generalized {
  static constexpr int count = (int)sizeof...(Operand);

  static GUF_FN void run(char **args, const i64 *dims, const i64 *steps) {
    if (all_packed(steps, make_indices<count>())) {
      items<true>(args, dims, steps, make_indices<count>());
    } else {
      items<false>(args, dims, steps, make_indices<count>());
    }
  }

 private:
  // Where the core strides of operand k begin: after the outer strides and those of earlier operands.
  static GUF_FN constexpr int core_start(int k) {
    const int ndims[] = {Operand::ndim...};
    int start = count;
    for (int i = 0; i < k; ++i) start += ndims[i];
    return start;
  }

  template <int... K>
  static GUF_FN bool all_packed(const i64 *steps, indices<K...>) {
    return (Operand::packed(steps + core_start(K)) && ...);
  }

  template <bool Packed, int... K>
  static __attribute__((noinline)) void items(char **args, const i64 *dims, const i64 *steps,
                                              indices<K...>) {
    const i64 *sizes = dims + 1;
    if constexpr (Cooperative) {
      alignas(64) char shared[kSharedBytes];
      for (i64 i = 0; i < dims[0]; ++i) {
        Op::call(one(shared), Operand::template argument<Packed>(args[K] + i * steps[K], sizes,
                                                                 steps + core_start(K))...);
      }
    } else {
      for (i64 i = 0; i < dims[0]; ++i) {
        Op::call(Operand::template argument<Packed>(args[K] + i * steps[K], sizes,
                                                    steps + core_start(K))...);
      }
    }
  }
};

}  // namespace host
}  // namespace guf

#endif  // GUFUNC_KERNEL_HOST_LOOPS_HPP
