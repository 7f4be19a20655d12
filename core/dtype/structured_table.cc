// SPDX-License-Identifier: Apache-2.0
// The structured dtypes of the process, in an append-only table that is read without a lock.
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <new>

#include "core/base/fork.h"
#include "core/base/utf8.h"
#include "core/dtype/dtype.h"

namespace gufunc::dtype {
namespace {

constexpr size_t kLongestName = 31;
constexpr uint32_t kLargestAlignment = 64;

struct StructuredDtype {
  guf_dtype dtype;
  uint32_t alignment;
  char name[kLongestName + 1];
};

std::array<std::atomic<const StructuredDtype *>, GUF_MAX_STRUCTURED_DTYPES> registered;
std::atomic<uint32_t> nregistered{0};
base::ForkLock lock;  // taken by writers only

const StructuredDtype *find(guf_dtype dtype) {
  const uint32_t number = dtype >> 20;
  if (!is_structured(dtype) || number >= nregistered.load(std::memory_order_acquire))
    return nullptr;
  const StructuredDtype *const found = registered[number].load(std::memory_order_acquire);
  return found->dtype == dtype ? found : nullptr;
}

const StructuredDtype *find(std::string_view name) {
  const uint32_t count = nregistered.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    const StructuredDtype *const found = registered[i].load(std::memory_order_acquire);
    if (found->name == name) return found;
  }
  return nullptr;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_name(std::string_view name) {
  if (name.empty() || name.size() > kLongestName || !is_letter(name[0])) return false;
  for (const char c : name) {
    if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '.') return false;
  }
  return true;
}

guf_status check_layout(const char *name, uint32_t itemsize, uint32_t alignment, guf_error *error) {
  guf_dtype other = GUF_DTYPE_UNSPECIFIED;
  const size_t length = strnlen(name, kLongestName + 1);
  if (!is_name({name, length})) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "'%.*s' cannot name a structured dtype: expected [A-Za-z_][A-Za-z0-9_.]*, at "
                      "most %zu characters",
                      base::utf8_prefix(name, length), name, kLongestName);
  }
  if (parse(name, &other, nullptr) == GUF_OK && !is_structured(other)) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "'%s' cannot name a structured dtype: it spells %s", name,
                      dtype::name(other));
  }
  if (!std::has_single_bit(alignment) || alignment > kLargestAlignment) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "structured dtype '%s': alignment: expected 1, 2, 4, ... %u, got %u", name,
                      kLargestAlignment, alignment);
  }
  if (itemsize == 0 || itemsize > GUF_MAX_STRUCTURED_ITEMSIZE || itemsize % alignment != 0) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "structured dtype '%s': itemsize: expected a multiple of the alignment %u "
                      "from 1 to %d, got %u",
                      name, alignment, GUF_MAX_STRUCTURED_ITEMSIZE, itemsize);
  }
  return GUF_OK;
}

}  // namespace

guf_status register_structured(const char *name, uint32_t itemsize, uint32_t alignment,
                               guf_dtype *out, guf_error *error) {
  GUF_TRY(check_layout(name, itemsize, alignment, error));
  auto *made = new (std::nothrow) StructuredDtype{0, alignment, {}};
  const StructuredDtype *known = nullptr;
  if (made != nullptr) {
    std::memcpy(made->name, name, std::strlen(name));
    const std::lock_guard<base::ForkLock> hold(lock);
    known = find(std::string_view(name));
    const uint32_t number = nregistered.load(std::memory_order_relaxed);
    if (known == nullptr && number < GUF_MAX_STRUCTURED_DTYPES) {
      made->dtype = 0x82U | itemsize << 8 | number << 20;
      registered[number].store(made, std::memory_order_release);
      nregistered.store(number + 1, std::memory_order_release);
      *out = made->dtype;
      return GUF_OK;
    }
  }
  delete made;
  if (known == nullptr) {
    return base::fail(error, GUF_E_NO_MEMORY, base::kNone, base::kNone,
                      "no memory for structured dtype '%s', or more than %d structured dtypes",
                      name, GUF_MAX_STRUCTURED_DTYPES);
  }
  if (dtype::itemsize(known->dtype) != itemsize || known->alignment != alignment) {
    return base::fail(
        error, GUF_E_EXISTS, base::kNone, base::kNone,
        "structured dtype '%s' exists with another layout: itemsize %u, alignment %u; requested "
        "%u, %u",
        name, dtype::itemsize(known->dtype), known->alignment, itemsize, alignment);
  }
  *out = known->dtype;
  return GUF_OK;
}

uint32_t structured_alignment(guf_dtype dtype) {
  const StructuredDtype *const found = find(dtype);
  return found == nullptr ? 1 : found->alignment;
}

const char *structured_name(guf_dtype dtype) {
  const StructuredDtype *const found = find(dtype);
  return found == nullptr ? nullptr : found->name;
}

guf_dtype find_structured(std::string_view name) {
  const StructuredDtype *const found = find(name);
  return found == nullptr ? guf_dtype{GUF_DTYPE_UNSPECIFIED} : found->dtype;
}

}  // namespace gufunc::dtype
