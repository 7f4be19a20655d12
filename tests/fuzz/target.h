// SPDX-License-Identifier: Apache-2.0
// Common code of the fuzz targets: the decoding of the fuzzer's bytes into choices, a choice of
// ufuncs, and the checks after every call of the C API.
#ifndef GUFUNC_TESTS_FUZZ_TARGET_H
#define GUFUNC_TESTS_FUZZ_TARGET_H

#include <gufunc/gufunc.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "tests/support/fresh_error.h"

// The entry point for libFuzzer and for replay_main.cc.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace gufunc::fuzz {

// Decodes the choices of a fuzz target from the fuzzer's bytes. Reads past the end return 0, so
// that short inputs are valid.
class ByteReader {
 public:
  ByteReader(const uint8_t *data, size_t size) : data_(data), size_(size) {}

  bool at_end() const { return size_ == 0; }

  uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }

  // Returns a number in [0, count). `count` must be at least 1.
  uint32_t below(uint32_t count) { return byte() % count; }

  // Returns true for about one of `odds` byte values.
  bool one_in(uint32_t odds) { return below(odds) == odds - 1; }

  template <class T>
  T value() {
    unsigned char bytes[sizeof(T)];
    for (unsigned char &each : bytes) each = byte();
    T result;
    std::memcpy(&result, bytes, sizeof result);
    return result;
  }

  template <class T, size_t N>
  const T &pick(const T (&choices)[N]) {
    return choices[below(N)];
  }

  // Returns the bytes up to the next NUL, as text.
  std::string text() {
    std::string result;
    while (size_ != 0) {
      const auto next = static_cast<char>(byte());
      if (next == '\0') break;
      result += next;
    }
    return result;
  }

 private:
  const uint8_t *data_;
  size_t size_;
};

// Returns one of the standard ufuncs as a borrowed handle.
guf_ufunc draw_ufunc(ByteReader *bytes);

// Aborts unless the status has a name and a failure has a NUL-terminated message.
void demand_report(guf_status status, const guf_error &error);

// Aborts with `what` unless `holds` is true.
void check(bool holds, const char *what);

}  // namespace gufunc::fuzz

#endif  // GUFUNC_TESTS_FUZZ_TARGET_H
