// SPDX-License-Identifier: Apache-2.0
#include "bench_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "bench_plan.h"
#include "call_parts.h"
#include "owned_handle.h"

namespace gufunc::cli {
namespace {

static_assert(std::numeric_limits<long double>::digits >= 64);

__extension__ using WideCount = unsigned __int128;  // holds the number of 64-bit integers

bool is_integer(const guf_dtype_info &info) {
  return info.kind == GUF_KIND_BOOL || info.kind == GUF_KIND_INT || info.kind == GUF_KIND_UINT;
}

// Returns the least and the greatest finite number that a dtype holds.
ValueRange limits_of(const guf_dtype_info &info) {
  const int bits = static_cast<int>(info.itemsize) * 8;
  if (info.kind == GUF_KIND_BOOL) return {0, 1};
  if (info.kind == GUF_KIND_UINT) return {0, std::ldexp(1.0L, bits) - 1};
  if (info.kind == GUF_KIND_INT)
    return {-std::ldexp(1.0L, bits - 1), std::ldexp(1.0L, bits - 1) - 1};
  const long double most = info.dtype == GUF_F16    ? 0x1.ffcp15L
                           : info.dtype == GUF_BF16 ? 0x1.fep127L
                           : info.dtype == GUF_F32 || info.dtype == GUF_C64
                               ? std::numeric_limits<float>::max()
                               : std::numeric_limits<double>::max();
  return {-most, most};
}

// Returns an integer exactly, unless it has very many digits.
std::string number_text(long double value) {
  return value == std::floor(value) && std::fabs(value) < 1e20L
             ? fmt::format("{:.0f}", value)
             : fmt::format("{}", static_cast<double>(value));
}

void check_values(const ValueRange &values, const guf_dtype_info &info) {
  const ValueRange limits = limits_of(info);
  std::string fault;
  if (values.low < limits.low || values.high > limits.high) {
    fault = fmt::format("{} holds values from {} to {}", info.name, number_text(limits.low),
                        number_text(limits.high));
  } else if (is_integer(info) && std::ceil(values.low) > std::floor(values.high)) {
    fault = fmt::format("no {} is between these numbers", info.name);
  } else {
    return;
  }
  throw Failure(Exit::kRefused, fmt::format("--values {}:{}: {}", number_text(values.low),
                                            number_text(values.high), fault));
}

// Mixes the bits of a counter (the finalizer of splitmix64, by Steele, Lea and Flood, 2014).
uint64_t mixed(uint64_t value) {
  value = (value + 1) * 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

// Returns integers as 64 bits each, in two's complement. The sums wrap.
std::vector<uint64_t> random_integers(const ValueRange &values, size_t count, uint64_t seed) {
  const long double low = std::ceil(values.low), high = std::floor(values.high);
  const uint64_t least =
      low < 0 ? static_cast<uint64_t>(static_cast<int64_t>(low)) : static_cast<uint64_t>(low);
  const WideCount steps = static_cast<WideCount>(high - low) + 1;
  std::vector<uint64_t> integers(count);
  for (size_t i = 0; i < count; ++i)
    integers[i] = least + static_cast<uint64_t>((mixed((seed << 32U) + i) * steps) >> 64);
  return integers;
}

// Weighs the limits, because their difference may overflow.
std::vector<double> random_reals(const ValueRange &values, size_t count, uint64_t seed) {
  const auto low = static_cast<double>(values.low), high = static_cast<double>(values.high);
  std::vector<double> reals(count);
  for (size_t i = 0; i < count; ++i) {
    const double part = static_cast<double>(mixed((seed << 32U) + i) >> 11U) * 0x1p-53;
    reals[i] = std::clamp(low * (1 - part) + high * part, low, high);
  }
  return reals;
}

}  // namespace

ValueRange values_of(const std::string &text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const auto low = number_of<long double>(std::string_view(text).substr(0, colon));
  const auto high =
      number_of<long double>(std::string_view(text).substr(std::min(colon + 1, text.size())));
  if (!low || !high || *low > *high)
    refuse_value("--values", "LOW:HIGH with finite numbers, LOW not above HIGH", text);
  return {*low, *high};
}

ValueRange default_values(const std::string &name, const std::string &method, guf_dtype dtype) {
  struct Rule {
    std::string_view names;  // between spaces
    ValueRange values;
  };
  static constexpr Rule kFloats[] = {
      {" arccos arcsin arctanh ", {-0.9, 0.9}},
      {" arccosh ", {1.5, 10}},
      {" cbrt divide floor_divide fmod log log10 log1p log2 reciprocal remainder sqrt ", {0.5, 10}},
      {" float_power power ", {0.5, 2}},
      {" cos sin tan ", {-3, 3}},
  };
  static constexpr Rule kIntegers[] = {
      {" left_shift right_shift ", {0, 7}}, {" power ", {1, 4}}, {" ldexp ", {0, 4}}};
  const std::string word = " " + name.substr(name.find(':') + 1) + " ";  // without the module
  const int32_t kind = info_of(dtype).kind;
  if (kind == GUF_KIND_BOOL) return {0, 1};
  const bool integer = kind == GUF_KIND_INT || kind == GUF_KIND_UINT;
  // Products of many values stay near 1.
  constexpr std::string_view kProducts = " divide float_power multiply power ";
  if (method != "call" && !integer && kProducts.find(word) != kProducts.npos)
    return {1 - 1e-6, 1 + 1e-6};
  const Rule *const begin = integer ? std::begin(kIntegers) : std::begin(kFloats);
  const Rule *const end = integer ? std::end(kIntegers) : std::end(kFloats);
  const Rule *const rule = std::find_if(
      begin, end, [&](const Rule &one) { return one.names.find(word) != one.names.npos; });
  if (rule != end) return rule->values;
  return integer ? ValueRange{1, 100} : ValueRange{-1, 1};
}

std::vector<std::byte> random_values(const guf_dtype_info &info, const ValueRange &values,
                                     int64_t count, uint64_t seed) {
  check_values(values, info);
  const bool complex = info.kind == GUF_KIND_COMPLEX;
  const auto numbers = static_cast<size_t>(complex ? 2 * count : count);
  std::vector<uint64_t> integers;
  std::vector<double> reals;
  guf_tensor tensor = {};
  tensor.struct_size = sizeof tensor;
  tensor.ndim = 1;
  tensor.shape = &count;
  if (is_integer(info)) {
    integers = random_integers(values, numbers, seed);
    tensor.dtype = info.kind == GUF_KIND_INT ? GUF_I64 : GUF_U64;
    tensor.address = reinterpret_cast<uint64_t>(integers.data());
  } else {
    reals = random_reals(values, numbers, seed);
    tensor.dtype = complex ? GUF_C128 : GUF_F64;
    tensor.address = reinterpret_cast<uint64_t>(reals.data());
  }
  Call call;
  ArrayHandle source, cast;
  call.check(guf_array_wrap(&tensor, nullptr, nullptr, 0, source.out(), call.error()));
  call.check(guf_array_astype(source.get(), info.dtype, GUF_CASTING_UNSAFE, GUF_ORDER_C, nullptr,
                              cast.out(), call.error()));
  std::vector<std::byte> bytes(static_cast<size_t>(count) * info.itemsize);
  call.check(guf_array_copy_to_host(cast.get(), bytes.data(), bytes.size(), GUF_ORDER_C, nullptr,
                                    call.error()));
  return bytes;
}

}  // namespace gufunc::cli
