// SPDX-License-Identifier: Apache-2.0
// Measures the error of the f32 functions. A function of one argument is called with every f32
// number, and a function of two arguments with random and critical pairs. The reference is the same
// function in f64. Prints the largest error of each function, and fails if it is larger than
// math_rows.h allows.
// Usage: math_f32_exhaustive [STEP [FUNCTION...]]; only every STEP-th number is measured.
#include <gufunc/kernel/math.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "math_rows.h"

namespace {

using guf::f32;
using guf::f64;
using guf::i64;
using guf::u32;
using guf::u64;

constexpr i64 kBlock = 4096;
constexpr f64 kWrong = 1e9;  // error of a result that is NaN, infinite or finite by mistake

struct Block {
  f32 x[kBlock], y[kBlock], found[kBlock];
  f64 truth[kBlock], error[kBlock];
};

// Sets the error in units of the last place of the reference, which may be subnormal in f32.
void compare(Block *b) {
  for (i64 i = 0; i < kBlock; ++i) {
    const f64 truth = b->truth[i], found = (f64)b->found[i];
    const u64 exponent = guf::detail::to_bits(truth) >> 52 & 0x7ffu;
    const u64 least = exponent < 897u ? u64(897) : exponent;
    const f64 places = guf::detail::from_bits<f64>((2069u - least) << 52);
    const f64 inf = guf::limits<f64>::infinity;
    const f64 distance = guf::detail::magnitude(found - truth) * places;
    const f64 nearest = (f64)(f32)truth;
    const bool both_nan = truth != truth && found != found;
    const bool infinite =
        guf::detail::magnitude(nearest) == inf || guf::detail::magnitude(found) == inf;
    const f64 finite = distance < kWrong ? distance : kWrong;
    b->error[i] = both_nan || (infinite && nearest == found) ? 0.0 : (infinite ? kWrong : finite);
  }
}

#define GUF_LOOP(NAME, ...)                                      \
  void NAME##_block(Block *b) {                                  \
    const f32 *x = b->x, *y = b->y;                              \
    (void)y;                                                     \
    GUF_INDEPENDENT for (i64 i = 0; i < kBlock; ++i) {           \
      b->found[i] = guf::NAME(GUF_ARGUMENTS_##__VA_ARGS__(f32)); \
    }                                                            \
    GUF_INDEPENDENT for (i64 i = 0; i < kBlock; ++i) {           \
      b->truth[i] = guf::NAME(GUF_ARGUMENTS_##__VA_ARGS__(f64)); \
    }                                                            \
  }
#define GUF_ARGUMENTS_1(TYPE) (TYPE) x[i]
#define GUF_ARGUMENTS_2(TYPE) (TYPE) x[i], (TYPE)y[i]
// clang-format off
#define GUF_FUNCTIONS(F)                                                                       \
  F(exp, 1) F(exp2, 1) F(expm1, 1) F(log, 1) F(log2, 1) F(log10, 1) F(log1p, 1) F(sin, 1)      \
  F(cos, 1) F(tan, 1) F(asin, 1) F(acos, 1) F(atan, 1) F(sinh, 1) F(cosh, 1) F(tanh, 1)        \
  F(asinh, 1) F(acosh, 1) F(atanh, 1) F(cbrt, 1) F(erf, 1) F(erfc, 1) F(pow, 2) F(atan2, 2)    \
  F(hypot, 2)
// clang-format on
GUF_FUNCTIONS(GUF_LOOP)

struct Function {
  const char *name;
  int arguments;
  void (*block)(Block *);
};
#define GUF_ENTRY(NAME, ARGUMENTS) {#NAME, ARGUMENTS, NAME##_block},
constexpr Function kFunctions[] = {GUF_FUNCTIONS(GUF_ENTRY)};

struct Worst {
  f64 error = 0;
  f32 x = 0, y = 0;
  u64 inexact = 0;  // results that are not the f32 number nearest to the reference
};

void measure(const Function &function, Block *b, Worst *worst) {
  function.block(b);
  compare(b);
  f64 largest = 0;
  u64 inexact = 0;
  for (i64 i = 0; i < kBlock; ++i) largest = b->error[i] > largest ? b->error[i] : largest;
  for (i64 i = 0; i < kBlock; ++i) inexact += b->error[i] > 0.5 ? 1u : 0u;
  worst->inexact += inexact;
  if (largest <= worst->error) return;
  const i64 place = std::find(b->error, b->error + kBlock, largest) - b->error;
  worst->error = largest, worst->x = b->x[place], worst->y = b->y[place];
}

// A permutation of the 64-bit numbers: the finalizer of splitmix64 (Steele, Lea, Flood 2014).
u64 mixed(u64 n) {
  n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9u;
  n = (n ^ n >> 27) * 0x94d049bb133111ebu;
  return n ^ n >> 31;
}

// Fills the block with pairs of random bits. In most blocks, the exponents are limited, and in some
// of these both numbers are near each other or y is such that pow is finite.
void fill_pairs(Block *b, u64 start) {
  const u64 kind = start / kBlock % 8;
  const u32 keep = kind < 2 ? 0xffffffffu : (kind < 5 ? 0x87ffffffu : 0x81ffffffu);
  const u32 offset = kind < 2 ? 0 : (kind < 5 ? 0x3c000000u : 0x3f000000u);
  for (i64 i = 0; i < kBlock; ++i) {
    const u64 bits = mixed((start + (u64)i) * 0x9e3779b97f4a7c15u);
    const u32 x = ((u32)bits & keep) + offset, y = ((u32)(bits >> 32) & keep) + offset;
    b->x[i] = guf::detail::from_bits<f32>(x);
    b->y[i] = guf::detail::from_bits<f32>(kind == 7 ? x + (y & 0xffffu) : y);
    if (kind == 4) b->y[i] = b->y[i] * 40.0F;
    if (kind == 6) {
      const f32 logarithm = guf::log(guf::detail::magnitude(b->x[i]));
      b->y[i] = 100.0F * b->y[i] / guf::detail::magnitude(logarithm);
    }
  }
}

Worst sweep(const Function &function, u64 step) {
  Worst worst;
  std::vector<Block> block(1);
  Block *b = block.data();
  const u64 count = (u64(1) << 32) / step;
  for (u64 start = 0; start < count; start += kBlock) {
    if (function.arguments == 2) {
      fill_pairs(b, start);
    } else {
      for (i64 i = 0; i < kBlock; ++i) {
        b->x[i] = guf::detail::from_bits<f32>((u32)((start + (u64)i) * step));
      }
    }
    measure(function, b, &worst);
  }
  return worst;
}

f64 bar_of(const char *name) {
  for (const gufunc::test::MathRow &row : gufunc::test::math_rows()) {
    if (std::strcmp(row.name, name) == 0) return row.bar32;
  }
  return 0;
}

}  // namespace

int main(int argc, char **argv) {
  const u64 step = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  bool failed = false, measured = false;
  for (const Function &function : kFunctions) {
    bool chosen = argc <= 2;
    for (int i = 2; i < argc; ++i) chosen = chosen || std::strcmp(argv[i], function.name) == 0;
    if (!chosen) continue;
    measured = true;
    const Worst worst = sweep(function, step == 0 ? 1 : step);
    const f64 bar = bar_of(function.name);
    std::printf("%-6s %.4f (bar %.2f) at %a", function.name, worst.error, bar, (f64)worst.x);
    if (function.arguments == 2) std::printf(", %a", (f64)worst.y);
    std::printf("; %llu results not nearest\n", (unsigned long long)worst.inexact);
    std::fflush(stdout);
    failed = failed || !(worst.error <= bar);
  }
  if (!measured) std::fprintf(stderr, "no function has one of these names\n");
  return failed || !measured ? 1 : 0;
}
