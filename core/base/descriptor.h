// SPDX-License-Identifier: Apache-2.0
// The owner of a file descriptor. The programs in tools/ use it too, so this header contains all of
// its code.
#ifndef GUFUNC_CORE_BASE_DESCRIPTOR_H
#define GUFUNC_CORE_BASE_DESCRIPTOR_H

#include <unistd.h>

#include <utility>

namespace gufunc::base {

class Descriptor {
 public:
  // A negative number means that no file is open.
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor &&other) noexcept : number_(other.release()) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    if (this != &other) {
      close();
      number_ = other.release();
    }
    return *this;
  }
  ~Descriptor() { close(); }

  bool is_open() const { return number_ >= 0; }
  int get() const { return number_; }
  // Returns the number. The caller becomes the owner of the file descriptor.
  int release() { return std::exchange(number_, -1); }
  // Returns false if written data did not reach the file; errno holds the reason.
  bool close() { return number_ < 0 || ::close(release()) == 0; }

 private:
  int number_;
};

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_DESCRIPTOR_H
