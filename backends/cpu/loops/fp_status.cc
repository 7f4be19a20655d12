// SPDX-License-Identifier: Apache-2.0
// Examines the operands of a block of items before the computation, which may overwrite the
// operands, and the results after the computation. Floating-point numbers are classified by their
// bits.
#include "backends/cpu/loops/fp_status.h"

#include <gufunc/kernel/types.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/loops/dtype_layout.h"
#include "backends/cpu/loops/host_loop.h"

namespace gufunc::cpu {
namespace {

template <class T>
uint8_t class_of(const char *element) {
  using Format = guf::float_bits<T>;
  using Bits = typename Format::word;
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  Bits bits;
  std::memcpy(&bits, element, sizeof bits);
  bits = static_cast<Bits>(bits & ~kSign);
  return static_cast<uint8_t>(
      (bits > Format::infinity ? kIsNaN : 0) | (bits == Format::infinity ? kIsInfinite : 0) |
      (bits == 0 ? kIsZero : 0) | (bits < Format::smallest_normal ? kIsTiny : 0));
}

// Elements of type T: floating-point or complex numbers. Other numbers have no class.
template <class T>
struct Elements {
  static void classify(const char *elements, int64_t step, int64_t count, uint8_t *classes) {
    if constexpr (guf::is_float<T>::value || guf::is_stored_float<T>::value) {
      for (int64_t i = 0; i < count; ++i) {
        classes[i] = static_cast<uint8_t>(classes[i] | class_of<T>(elements + i * step));
      }
    }
  }
};

template <class T>
struct Elements<guf::complex<T>> {
  static void classify(const char *elements, int64_t step, int64_t count, uint8_t *classes) {
    constexpr uint8_t kAny = kIsNaN | kIsInfinite;
    for (int64_t i = 0; i < count; ++i) {
      const uint8_t real = class_of<T>(elements + i * step);
      const uint8_t imag = class_of<T>(elements + i * step + sizeof(T));
      classes[i] =
          static_cast<uint8_t>(classes[i] | ((real | imag) & kAny) | (real & imag & kIsZero));
    }
  }
};

void classify_datetimes(const char *elements, int64_t step, int64_t count, uint8_t *classes) {
  for (int64_t i = 0; i < count; ++i) {
    int64_t steps;
    std::memcpy(&steps, elements + i * step, sizeof steps);
    classes[i] = static_cast<uint8_t>(classes[i] | (steps == INT64_MIN ? kIsNaN : 0) |
                                      (steps == 0 ? kIsZero : 0));
  }
}

// Computes the classes of one operand's items. An item of a generalized function
// has the classes of all its elements.
void classify_items(const guf_launch_block &block, int operand, const char *address,
                    const int64_t *dims, const int64_t *steps, uint8_t *classes) {
  const guf_dtype dtype = block.loop_dtype[operand];
  const int ndim = block.core_ndim[operand];
  if (ndim == 0) return classify(dtype, address, steps[operand], dims[0], classes);
  int first = 0;  // first core stride of the operand
  for (int i = 0; i < operand; ++i) first += block.core_ndim[i];
  const int64_t *const core_step = steps + block.noperands + first;
  const uint8_t *const name = block.core_name + first;
  int64_t index[GUF_MAX_NDIM] = {};
  for (int d = 0; d < ndim; ++d) {
    if (dims[1 + name[d]] == 0) return;
  }
  for (;;) {
    classify(dtype, address, steps[operand], dims[0], classes);
    int d = ndim - 1;
    for (; d >= 0; --d) {
      address += core_step[d];
      if (++index[d] < dims[1 + name[d]]) break;
      address -= core_step[d] * index[d];
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

template <class T>
bool any_zero(const char *elements, int64_t step, int64_t count) {
  bool any = false;
  for (int64_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, elements + i * step, sizeof element);
    any |= element == 0;
  }
  return any;
}

bool any_integer_zero(guf_dtype dtype, const char *elements, int64_t step, int64_t count) {
  if (is_time(dtype)) dtype = GUF_I64;
  switch (dtype) {
    case GUF_I8:
    case GUF_U8:
      return any_zero<uint8_t>(elements, step, count);
    case GUF_I16:
    case GUF_U16:
      return any_zero<uint16_t>(elements, step, count);
    case GUF_I32:
    case GUF_U32:
      return any_zero<uint32_t>(elements, step, count);
    case GUF_I64:
    case GUF_U64:
      return any_zero<uint64_t>(elements, step, count);
    default:
      return false;
  }
}

// Returns the flags of an item. `seen` contains the classes of its operands, and
// `result_class` contains the classes of its result. If `zero_is_pole` is true, an infinite result
// with a zero operand counts as a division by zero.
uint32_t fp_flags_of(uint8_t seen, uint8_t result_class, bool zero_is_pole) {
  if ((result_class & kIsNaN) != 0 && (seen & kIsNaN) == 0) return GUF_FP_INVALID;
  if ((seen & (kIsNaN | kIsInfinite)) != 0) return 0;
  const bool zero = (seen & kIsZero) != 0;
  uint32_t fp_flags = 0;
  if ((result_class & kIsInfinite) != 0)
    fp_flags |= zero_is_pole && zero ? GUF_FP_DIVIDE : GUF_FP_OVERFLOW;
  if ((result_class & kIsTiny) != 0 && !zero) fp_flags |= GUF_FP_UNDERFLOW;
  return fp_flags;
}

struct FpFlagText {
  uint32_t flag;
  const char *text;
};
constexpr FpFlagText kTexts[] = {
    {GUF_FP_DIVIDE | GUF_FP_INTEGER_DIVIDE, "divide by zero"},
    {GUF_FP_OVERFLOW, "overflow"},
    {GUF_FP_UNDERFLOW, "underflow"},
    {GUF_FP_INVALID, "invalid value"},
};

}  // namespace

void classify(guf_dtype dtype, const char *elements, int64_t step, int64_t count,
              uint8_t *classes) {
  if (is_time(dtype)) return classify_datetimes(elements, step, count, classes);
  switch (dtype) {
#define GUF_DTYPE(NAME, name, letter, short_name, kind, element, code, bits) \
  case GUF_##NAME:                                                           \
    return Elements<guf::element>::classify(elements, step, count, classes);
#include <gufunc/dtypes.def>
    default:
      return;
  }
}

guf_status FpStatus::run(const HostLoop &loop, char **args, const int64_t *dims,
                         const int64_t *steps) {
  int64_t block_dims[1 + GUF_MAX_CORE_NAMES];
  std::copy_n(dims, 1 + block_.ncore, block_dims);
  uint32_t found = 0;
  guf_status status = GUF_OK;
  for (int64_t done = 0; done < dims[0] && status == GUF_OK; done += block_dims[0]) {
    block_dims[0] = std::min(kBlockItems, dims[0] - done);
    char *here[GUF_MAX_OPERANDS];
    char *call[GUF_MAX_OPERANDS];  // a loop may modify its argument arrays
    for (int i = 0; i < block_.noperands; ++i) call[i] = here[i] = args[i] + done * steps[i];
    uint8_t seen[kBlockItems] = {};
    check_inputs(here, block_dims, steps, seen);
    found |= integer_fp_flags(here, steps, block_dims[0]);
    status = loop.run(call, block_dims, steps);
    found |= check_results(here, block_dims, steps, seen);
  }
  found_.fetch_or(found, std::memory_order_relaxed);
  return status;
}

void FpStatus::check_inputs(char *const *args, const int64_t *dims, const int64_t *steps,
                            uint8_t *seen) {
  for (int i = 0; i < block_.noperands; ++i) {
    if ((block_.operand_flags[i] & GUF_LAUNCH_OPERAND_READ) == 0) continue;
    classify_items(block_, i, args[i], dims, steps, seen);
  }
}

uint32_t FpStatus::check_results(char *const *args, const int64_t *dims, const int64_t *steps,
                                 const uint8_t *seen) const {
  uint32_t fp_flags = 0;
  for (int i = 0; i < block_.noperands; ++i) {
    if ((block_.operand_flags[i] & GUF_LAUNCH_OPERAND_WRITTEN) == 0) continue;
    uint8_t result_class[kBlockItems] = {};
    classify_items(block_, i, args[i], dims, steps, result_class);
    // A division by zero requires that the zero belongs to the same element as the result,
    // so such a division is not detected in items of several elements.
    const bool zero_is_pole = block_.ncore == 0;
    for (int64_t k = 0; k < dims[0]; ++k)
      fp_flags |= fp_flags_of(seen[k], result_class[k], zero_is_pole);
  }
  return known(fp_flags);
}

uint32_t FpStatus::known(uint32_t fp_flags) const {
  const bool underflows = (status_.function_flags & GUF_FUNCTION_UNDERFLOWS) != 0;
  return underflows ? fp_flags : fp_flags & ~uint32_t{GUF_FP_UNDERFLOW};
}

void FpStatus::check_rounding(guf_dtype wide, const char *from, int64_t from_step, guf_dtype narrow,
                              const char *to, int64_t to_step, int64_t count) {
  uint32_t fp_flags = 0;
  for (int64_t done = 0; done < count; done += kBlockItems) {
    const int64_t items = std::min(kBlockItems, count - done);
    uint8_t seen[kBlockItems] = {};
    uint8_t result_class[kBlockItems] = {};
    classify(wide, from + done * from_step, from_step, items, seen);
    classify(narrow, to + done * to_step, to_step, items, result_class);
    for (int64_t k = 0; k < items; ++k) fp_flags |= fp_flags_of(seen[k], result_class[k], false);
  }
  found_.fetch_or(known(fp_flags), std::memory_order_relaxed);
}

uint32_t FpStatus::integer_fp_flags(char *const *args, const int64_t *steps, int64_t count) const {
  const int divisor = block_.nin - 1;
  if ((status_.function_flags & GUF_FUNCTION_DIVIDES) == 0 || divisor < 0 || block_.ncore != 0) {
    return 0;
  }
  const bool any =
      any_integer_zero(block_.loop_dtype[divisor], args[divisor], steps[divisor], count);
  return any ? uint32_t{GUF_FP_INTEGER_DIVIDE} : 0;
}

guf_status FpStatus::finish(guf_error *error) {
  const uint32_t found = found_.load(std::memory_order_relaxed);
  if ((found & status_.report) != 0) {
    __atomic_fetch_or(status_.flags, found & status_.report, __ATOMIC_RELEASE);
  }
  for (const FpFlagText &row : kTexts) {
    if ((found & status_.fail & row.flag) == 0) continue;
    return fail(error, GUF_E_FLOATING_POINT, kNone, kNone, "%s encountered in %s", row.text,
                status_.name);
  }
  return GUF_OK;
}

}  // namespace gufunc::cpu
