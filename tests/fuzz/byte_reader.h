// SPDX-License-Identifier: Apache-2.0
// Decodes the choices of a fuzz target from the fuzzer's bytes. Reads past the end return 0, so
// that short inputs are valid.
#ifndef GUFUNC_TESTS_FUZZ_BYTE_READER_H
#define GUFUNC_TESTS_FUZZ_BYTE_READER_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace gufunc::fuzz {

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

}  // namespace gufunc::fuzz

#endif  // GUFUNC_TESTS_FUZZ_BYTE_READER_H
