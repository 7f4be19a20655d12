// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/ptx_memory.h"

#include <cstddef>

#if defined(__GNUC__)
#define PTX_UNCHECKED __attribute__((no_sanitize("address", "thread")))
#else
#define PTX_UNCHECKED
#endif

namespace ptx {
namespace {

// Device memory has objects of any type.
template <class T>
struct Aliased {
  using type __attribute__((may_alias)) = T;
};

template <class T>
PTX_UNCHECKED uint64_t read_as(const unsigned char *from) {
  return *reinterpret_cast<const typename Aliased<T>::type *>(from);
}

template <class T>
PTX_UNCHECKED void write_as(unsigned char *to, uint64_t value) {
  *reinterpret_cast<typename Aliased<T>::type *>(to) = static_cast<T>(value);
}

template <class T>
PTX_UNCHECKED bool exchange_as(unsigned char *at, uint64_t *expected, uint64_t desired) {
  T old = static_cast<T>(*expected);
  const bool done = __atomic_compare_exchange_n(reinterpret_cast<typename Aliased<T>::type *>(at),
                                                &old, static_cast<T>(desired), false,
                                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  *expected = old;
  return done;
}

}  // namespace

PTX_UNCHECKED uint64_t read_bytes(const unsigned char *from, unsigned bytes) {
  switch (bytes) {
    case 1:
      return *from;
    case 2:
      return read_as<uint16_t>(from);
    case 4:
      return read_as<uint32_t>(from);
    default:
      return read_as<uint64_t>(from);
  }
}

PTX_UNCHECKED void write_bytes(unsigned char *to, unsigned bytes, uint64_t value) {
  switch (bytes) {
    case 1:
      *to = static_cast<unsigned char>(value);
      return;
    case 2:
      return write_as<uint16_t>(to, value);
    case 4:
      return write_as<uint32_t>(to, value);
    default:
      return write_as<uint64_t>(to, value);
  }
}

PTX_UNCHECKED bool exchange_if_equal(unsigned char *at, unsigned bytes, uint64_t *expected,
                                     uint64_t desired) {
  return bytes == 4 ? exchange_as<uint32_t>(at, expected, desired)
                    : exchange_as<uint64_t>(at, expected, desired);
}

void RangeCache::search(uint64_t address, uint64_t bytes) {
  for (const Range &range : known_) {
    if (range.has(address, bytes)) {
      last_ = range;
      return;
    }
  }
  constexpr size_t kMax = 32;
  if (known_.size() >= kMax) known_.clear();
  last_ = memory_.find(address);
  if (last_.has(address, bytes)) known_.push_back(last_);
}

}  // namespace ptx
