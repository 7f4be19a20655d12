// SPDX-License-Identifier: Apache-2.0
// Floating-point instructions whose results PTX defines only up to an error: `.approx` and `.full`.
// The results here are those of the host's functions, rounded once, which are within the documented
// errors. PTX ISA, "Floating-Point Instructions".
#include "tests/ptx/ptx_apply.h"

namespace ptx {
namespace {

double reciprocal(double a) {
  return 1 / a;
}
double reciprocal_root(double a) {
  return 1 / std::sqrt(a);
}
double root(double a) {
  return std::sqrt(a);
}
double sine(double a) {
  return std::sin(a);
}
double cosine(double a) {
  return std::cos(a);
}
double logarithm2(double a) {
  return std::log2(a);
}
double power2(double a) {
  return std::exp2(a);
}
double hyperbolic_tangent(double a) {
  return std::tanh(a);
}

template <double (*kFunction)(double), bool kFlush>
float approximate(float a) {
  const auto result = static_cast<float>(kFunction(double{maybe_flushed<kFlush>(a)}));
  return canonical(maybe_flushed<kFlush>(result));
}

template <bool kFlush>
float divide_full(float a, float b) {
  return canonical(maybe_flushed<kFlush>(maybe_flushed<kFlush>(a) / maybe_flushed<kFlush>(b)));
}

// A divisor above 2^126 gives zero, or NaN if the dividend is infinite.
template <bool kFlush>
float divide_approximately(float a, float b) {
  const float magnitude = std::fabs(b);
  if (magnitude > 0x1p126f && !std::isinf(b) && !std::isnan(a)) {
    if (std::isinf(a)) return canonical(std::numeric_limits<float>::quiet_NaN());
    return std::copysign(0.0f, std::signbit(a) == std::signbit(b) ? 1.0f : -1.0f);
  }
  return divide_full<kFlush>(a, b);
}

// The instruction uses only the upper 32 bits of the operand, and defines only the upper 32 bits of
// the result. The lower ones are zero. Subnormal numbers are zero.
template <double (*kFunction)(double)>
double approximate_upper(double a) {
  constexpr uint64_t kUpper = ~uint64_t{0} << 32;
  if (std::isnan(a)) return a;
  double operand = std::bit_cast<double>(std::bit_cast<uint64_t>(a) & kUpper);
  if (std::fpclassify(operand) == FP_SUBNORMAL) operand = std::copysign(0.0, operand);
  const double result = kFunction(operand);
  if (std::fpclassify(result) == FP_SUBNORMAL) return std::copysign(0.0, result);
  if (!std::isfinite(result)) return result;
  return std::bit_cast<double>((std::bit_cast<uint64_t>(result) + (uint64_t{1} << 31)) & kUpper);
}

template <double (*kFunction)(double)>
void add_single(Forms *forms, const std::string &opcode) {
  add_uniform<&approximate<kFunction, false>, float>(forms, opcode, 1);
  add_uniform<&approximate<kFunction, true>, float>(forms, opcode + ".ftz", 1);
}

}  // namespace

void add_approximate_forms(Forms *forms) {
  add_single<&reciprocal>(forms, "rcp.approx");
  add_single<&reciprocal_root>(forms, "rsqrt.approx");
  add_single<&root>(forms, "sqrt.approx");
  add_single<&sine>(forms, "sin.approx");
  add_single<&cosine>(forms, "cos.approx");
  add_single<&logarithm2>(forms, "lg2.approx");
  add_single<&power2>(forms, "ex2.approx");
  add_uniform<&approximate<&hyperbolic_tangent, false>, float>(forms, "tanh.approx", 1);
  add_uniform<&divide_full<false>, float>(forms, "div.full", 2);
  add_uniform<&divide_full<true>, float>(forms, "div.full.ftz", 2);
  add_uniform<&divide_approximately<false>, float>(forms, "div.approx", 2);
  add_uniform<&divide_approximately<true>, float>(forms, "div.approx.ftz", 2);
  add_uniform<&approximate_upper<&reciprocal>, double>(forms, "rcp.approx.ftz", 1);
  add_uniform<&approximate_upper<&reciprocal_root>, double>(forms, "rsqrt.approx.ftz", 1);
}

}  // namespace ptx
