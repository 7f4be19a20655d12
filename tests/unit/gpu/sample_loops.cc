// SPDX-License-Identifier: Apache-2.0
// Instantiates the entries of sample loops as gufcc does.
#include "tests/unit/gpu/sample_loops.h"

#include "tests/unit/gpu/host_entry.h"

namespace {

using namespace guf;
using guf::device::work_item;
using gufunc::gpu::Entry;
using gufunc::gpu::HostEntry;
using gufunc::gpu::test::SampleLoop;

// ---- functions

// Replaces every NaN with one fixed NaN. The compiler may exchange operands, so it is unspecified
// which NaN the sum of several NaNs is.
template <class T>
T settled(T x) {
  if constexpr (is_complex<T>::value) {
    return T(settled(x.re), settled(x.im));
  } else if constexpr (is_float<T>::value) {
    return x != x ? limits<T>::nan : x;
  } else {
    return x;
  }
}

struct Plus {
  template <class T>
  static T call(T a, T b) {
    if constexpr (is_same<T, bool>::value) {
      return a || b;
    } else if constexpr (is_same<T, i32>::value) {
      return (i32)((u32)a + (u32)b);
    } else {
      return settled((T)(a + b));
    }
  }
};
struct Less {
  template <class T>
  static bool call(T a, T b) {
    return a < b;
  }
};
struct Discriminant {
  template <class T>
  static T call(T a, T b, T c) {
    return settled(b * b - T(4) * a * c);
  }
};
// Has operands of different widths, and a division that can raise flags.
struct Ratio {
  static f64 call(i64 a, i16 b, bool &failed) {
    failed = b == 0;
    return b == 0 ? 0.0 : cast<f64>(a) / b;
  }
};
// Fails for its own results. An entry that passes a result to the function, which it may read back
// from an output that is also an input, therefore reports a failure.
struct Mark {
  static i32 call(i32 a, bool &failed) {
    constexpr i32 kMarked = 0x5a5a5a5a;
    failed = a == kMarked;
    return kMarked;
  }
};
struct SumAndDifference {
  static void call(f32 a, f64 b, f64 &sum, f32 &difference) {
    sum = settled(a + b);
    difference = settled((f32)(a - b));
  }
};
struct MeanOfSeven {
  template <class T>
  static T call(T a, T b, T c, T d, T e, T f, T g) {
    return settled((T)((a + b + c + d + e + f + g) / 7));
  }
};
struct Later {
  static timedelta call(timedelta a, timedelta b) {
    return timedelta{a.value == nat || b.value == nat ? nat : time::wrapping_add(a.value, b.value)};
  }
};
struct Demean {
  template <class G, class X, class Y>
  static void call(G g, X x, Y y) {
    const i64 n = x.extent(0);
    auto sum = g.sum(n, [&](i64 i) { return x[i]; });
    const auto scale = cast<typename real_of<decltype(sum)>::type>(n < 1 ? i64(1) : n);
    for (i64 i = g.rank(); i < n; i += g.size()) y[i] = settled(x[i] - sum / scale);
  }
};
// The first thread reads a value and sends it to the other threads with broadcast and shuffle.
struct LessFirst {
  template <class G, class X, class Y>
  static void call(G g, X x, Y y) {
    const i64 n = x.extent(0);
    f64 first = 0;
    if (g.rank() == 0 && n > 0) first = x[0];
    first = g.subgroup().shuffle(g.broadcast(first, 0), 0);
    for (i64 i = g.rank(); i < n; i += g.size()) y[i] = settled(x[i] - first);
  }
};
// Requests shared memory. Reverses the values and adds the largest value.
struct ReversePlusMax {
  template <class G, class X, class Y>
  static void call(G g, X x, Y y) {
    const i64 n = x.extent(0);
    f64 *const copy = g.template shared<f64>(n);
    for (i64 i = g.rank(); i < n; i += g.size()) copy[i] = x[i];
    g.sync();
    const f64 most = g.max(n, [&](i64 i) { return copy[i]; });
    for (i64 i = g.rank(); i < n; i += g.size()) y[i] = settled(copy[n - 1 - i] + most);
  }
};
struct MatVec {
  template <class A, class X, class Y>
  static void call(A a, X x, Y y) {
    for (i64 i = 0; i < a.extent(0); ++i) {
      typedef typename Y::type number;
      number sum = 0;
      for (i64 j = 0; j < a.extent(1); ++j) sum = (number)(sum + a(i, j) * x[j]);
      y[i] = settled(sum);
    }
  }
};
// Has the signature (),(n) with an inout second operand. Fails if the factor is negative.
struct ScaleInPlace {
  template <class Y>
  static void call(f32 factor, Y y, bool &failed) {
    failed = factor < 0;
    for (i64 i = 0; i < y.extent(0); ++i) y[i] = settled(y[i] * factor);
  }
};

// ---- entries

template <class Block>
void take_bases(const Block &block, char **base) {
  int i = 0;
  for (const u64 address : block.address) base[i++] = (char *)address;
}
template <class Block, void (*Run)(const Block &, char *const *)>
void run_bases(const Block &block) {
  char *base[device::kMaxOperands];
  take_bases(block, base);
  Run(block, base);
}
template <class Block, void (*Run)(const Block &, char *const *, char *)>
void run_shared(const Block &block, char *shared) {
  char *base[device::kMaxOperands];
  take_bases(block, base);
  Run(block, base, shared);
}

template <class Block, void (*Run)(const Block &, char *const *)>
void set(SampleLoop &loop, Entry entry, u32 threads, bool synchronizes = false) {
  loop.entry.resize((size_t)Entry::kLoopEntries);
  HostEntry &made = loop.entry[(size_t)entry];
  made = gufunc::gpu::plain_entry<Block, run_bases<Block, Run>>(threads);
  made.synchronizes = synchronizes;
}
template <class Block, void (*Run)(const Block &, char *const *, char *)>
void set_shared(SampleLoop &loop, Entry entry) {
  loop.entry.resize((size_t)Entry::kLoopEntries);
  loop.entry[(size_t)entry] =
      gufunc::gpu::shared_entry<Block, run_shared<Block, Run>>(device::kItemThreads);
}

template <class T>
struct dtype_of;
#define DTYPE(T, CODE)                       \
  template <>                                \
  struct dtype_of<T> {                       \
    static constexpr guf_dtype value = CODE; \
  };
DTYPE(b8, GUF_BOOL)
DTYPE(i8, GUF_I8)
DTYPE(u8, GUF_U8)
DTYPE(i16, GUF_I16)
DTYPE(u16, GUF_U16)
DTYPE(i32, GUF_I32)
DTYPE(u32, GUF_U32)
DTYPE(i64, GUF_I64)
DTYPE(u64, GUF_U64)
DTYPE(f16, GUF_F16)
DTYPE(bf16, GUF_BF16)
DTYPE(f32, GUF_F32)
DTYPE(f64, GUF_F64)
DTYPE(c64, GUF_C64)
DTYPE(c128, GUF_C128)
DTYPE(timedelta, GUF_TIMEDELTA64)

template <class Op, bool MayFail, class... A, class... R, int... I, int... O>
bool evaluate_one(char *const *p, types<A...>, types<R...>, indices<I...>, indices<O...>) {
  constexpr int nin = (int)sizeof...(A);
  bool failed = false;
  if constexpr (sizeof...(R) == 1) {
    ((*(R *)p[nin + O] =
          cast<R>(device::call_op<Op, MayFail>(failed, cast<value_t<A>>(*(const A *)p[I])...))),
     ...);
  } else {
    device::call_op<Op, MayFail>(failed, cast<value_t<A>>(*(const A *)p[I])...,
                                 *(R *)p[nin + O]...);
  }
  return failed;
}

template <class Op, bool MayFail, class Ins, class Outs>
bool evaluate_element(char *const *p, const i64 *) {
  return evaluate_one<Op, MayFail>(p, Ins(), Outs(), make_indices<Ins::count>(),
                                   make_indices<Outs::count>());
}

template <class Op, bool MayFail, class... A, class... R>
SampleLoop elementwise(const char *name, types<A...>, types<R...>) {
  typedef device::elementwise<Op, types<A...>, types<R...>, MayFail> E;
  SampleLoop loop = {};
  loop.name = name;
  loop.nin = (int)sizeof...(A);
  loop.nout = (int)sizeof...(R);
  const guf_dtype dtypes[] = {dtype_of<A>::value..., dtype_of<R>::value...};
  for (int i = 0; i < loop.nin + loop.nout; ++i) loop.dtype[i] = dtypes[i];
  loop.may_fail = MayFail;
  loop.ncore = -1;
  set<typename E::row_type, E::row>(loop, Entry::kRow, device::kThreads);
  set<typename E::nd_type, E::nd>(loop, Entry::kNd, device::kThreads);
  loop.evaluate = evaluate_element<Op, MayFail, types<A...>, types<R...>>;
  return loop;
}

// Evaluates one item with packed operands, whose strides are computed from their sizes.
template <class Op, bool Cooperative, bool MayFail, class... Operand, int... K>
bool evaluate_packed(char *const *p, const i64 *sizes, indices<K...>) {
  i64 strides[sizeof...(Operand)][4] = {};
  (Operand::pack(sizes, strides[K]), ...);
  bool failed = false;
  if constexpr (Cooperative) {
    alignas(16) static char shared[kSharedBytes];
    device::call_op<Op, MayFail>(failed, single_thread(shared),
                                 Operand::device::argument(p[K], sizes, strides[K])...);
  } else {
    device::call_op<Op, MayFail>(failed, Operand::device::argument(p[K], sizes, strides[K])...);
  }
  return failed;
}

template <class T, role Role, int... D>
struct arg {
  typedef guf::device::operand<T, Role, D...> device;
  typedef T type;
  static constexpr role use = Role;
  static constexpr int ndim = (int)sizeof...(D);
  static void pack(const i64 *sizes, i64 *strides) {
    const int dims[] = {D..., 0};
    i64 next = (i64)sizeof(T);
    for (int j = ndim - 1; j >= 0; --j) {
      strides[j] = next;
      next *= sizes[dims[j]];
    }
  }
  static void name(SampleLoop &loop, int operand, int &place) {
    const int dims[] = {D..., 0};
    loop.dtype[operand] = dtype_of<T>::value;
    loop.core_ndim[operand] = ndim;
    for (int j = 0; j < ndim; ++j) loop.core_name[place++] = (uint8_t)dims[j];
    if (Role == role::inout) loop.reads_output = true;
  }
};

template <class Op, bool Cooperative, bool MayFail, class... Operand>
bool evaluate_item(char *const *p, const i64 *sizes) {
  return evaluate_packed<Op, Cooperative, MayFail, Operand...>(
      p, sizes, make_indices<(int)sizeof...(Operand)>());
}

template <class Op, bool Cooperative, bool MayFail, bool Shares, class... Operand>
SampleLoop generalized(const char *name, int ncore, int nin) {
  typedef device::generalized<Op, Cooperative, MayFail, typename Operand::device...> E;
  SampleLoop loop = {};
  loop.name = name;
  loop.nin = nin;
  loop.nout = (int)sizeof...(Operand) - nin;
  loop.may_fail = MayFail;
  loop.ncore = ncore;
  int operand = 0, place = 0;
  (Operand::name(loop, operand++, place), ...);
  if constexpr (!Shares) {
    set<typename E::block, E::thread>(loop, Entry::kThread, device::kItemThreads);
    set_shared<typename E::staged_type, E::staged>(loop, Entry::kStaged);
  }
  if constexpr (Cooperative) {
    if (!Shares) {
      set<typename E::block, E::lanes>(loop, Entry::kLanes, device::kItemThreads, true);
    }
    set_shared<typename E::block, E::whole_block>(loop, Entry::kBlock);
  }
  loop.evaluate = evaluate_item<Op, Cooperative, MayFail, Operand...>;
  return loop;
}

template <class T>
SampleLoop demean(const char *name) {
  return generalized<Demean, true, false, false, arg<T, role::in, 0>, arg<T, role::out, 0>>(name, 1,
                                                                                            1);
}
template <class T>
SampleLoop matvec(const char *name) {
  return generalized<MatVec, false, false, false, arg<T, role::in, 0, 1>, arg<T, role::in, 1>,
                     arg<T, role::out, 0>>(name, 2, 2);
}

template <class T>
types<T, T> pair() {
  return {};
}

const std::vector<SampleLoop> &all_loops() {
  static const std::vector<SampleLoop> all = {
      elementwise<Plus, false>("plus_b8", pair<b8>(), types<b8>()),
      elementwise<Plus, false>("plus_u8", pair<u8>(), types<u8>()),
      elementwise<Plus, false>("plus_f16", pair<f16>(), types<f16>()),
      elementwise<Plus, false>("plus_bf16", pair<bf16>(), types<bf16>()),
      elementwise<Plus, false>("plus_i32", pair<i32>(), types<i32>()),
      elementwise<Plus, false>("plus_f32", pair<f32>(), types<f32>()),
      elementwise<Plus, false>("plus_c64", pair<c64>(), types<c64>()),
      elementwise<Plus, false>("plus_c128", pair<c128>(), types<c128>()),
      elementwise<Less, false>("less_f64", pair<f64>(), types<b8>()),
      elementwise<Discriminant, false>("discriminant_f64", types<f64, f64, f64>(), types<f64>()),
      elementwise<Ratio, true>("ratio", types<i64, i16>(), types<f64>()),
      elementwise<Mark, true>("mark", types<i32>(), types<i32>()),
      elementwise<SumAndDifference, false>("two_results", types<f32, f64>(), types<f64, f32>()),
      elementwise<MeanOfSeven, false>("seven_f32", types<f32, f32, f32, f32, f32, f32, f32>(),
                                      types<f32>()),
      elementwise<Later, false>("later", pair<timedelta>(), types<timedelta>()),
      demean<f32>("demean_f32"),
      demean<f16>("demean_f16"),
      demean<c128>("demean_c128"),
      generalized<ReversePlusMax, true, false, true, arg<f64, role::in, 0>, arg<f64, role::out, 0>>(
          "reverse_f64", 1, 1),
      generalized<LessFirst, true, false, false, arg<f64, role::in, 0>, arg<f64, role::out, 0>>(
          "less_first_f64", 1, 1),
      matvec<f64>("matvec_f64"),
      matvec<i16>("matvec_i16"),
      generalized<ScaleInPlace, false, true, false, arg<f32, role::in>, arg<f32, role::inout, 0>>(
          "scale_f32", 1, 1),
  };
  return all;
}

// ---- casts

template <class From, class To>
bool cast_if(guf_dtype from_dtype, const void *from, guf_dtype to_dtype, void *to) {
  if (dtype_of<From>::value != from_dtype || dtype_of<To>::value != to_dtype) return false;
  *(To *)to = cast<To>(*(const From *)from);
  return true;
}
template <class From, class... To>
bool cast_from(guf_dtype from_dtype, const void *from, guf_dtype to_dtype, void *to, types<To...>) {
  return (cast_if<From, To>(from_dtype, from, to_dtype, to) || ...);
}
template <class... T>
void cast_any(guf_dtype from_dtype, const void *from, guf_dtype to_dtype, void *to,
              types<T...> all) {
  (void)(cast_from<T>(from_dtype, from, to_dtype, to, all) || ...);
}

}  // namespace

namespace gufunc::gpu::test {

const std::vector<SampleLoop> &sample_loops() {
  return all_loops();
}

void cast_element(guf_dtype from_dtype, const void *from, guf_dtype to_dtype, void *to) {
  cast_any(from_dtype, from, to_dtype, to,
           types<b8, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64, c64, c128>());
}

}  // namespace gufunc::gpu::test
