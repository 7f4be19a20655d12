// SPDX-License-Identifier: Apache-2.0
// Handles whose destructors release the object, and short lists of integers such as shapes.
#ifndef GUFUNC_CPP_HANDLE_HPP
#define GUFUNC_CPP_HANDLE_HPP

#include <gufunc/cpp/error.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

// One reference to an object of the library. Copying a handle retains the object, and destroying a
// handle releases it. Releasing never blocks and may happen on any thread. A moved-from handle is
// empty.
template <class T, guf_status (*Retain)(T, guf_error *), guf_status (*Release)(T, guf_error *)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T adopted) noexcept : value_(adopted) {}
  Handle(const Handle &other) noexcept : value_(other.value_) {
    if (value_ != nullptr) Retain(value_, nullptr);
  }
  Handle(Handle &&other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  Handle &operator=(Handle other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Handle() {
    if (value_ != nullptr) Release(value_, nullptr);
  }
  T get() const noexcept { return value_; }
  // Passes ownership of the reference to the caller.
  T release() noexcept { return std::exchange(value_, nullptr); }
  explicit operator bool() const noexcept { return value_ != nullptr; }
  friend bool operator==(const Handle &a, const Handle &b) noexcept { return a.value_ == b.value_; }
  friend bool operator!=(const Handle &a, const Handle &b) noexcept { return a.value_ != b.value_; }

 protected:
  T value_ = nullptr;
};

// Extents, strides or axes. Up to 6 numbers are stored without an allocation.
class Ints {
 public:
  Ints() = default;
  Ints(const int64_t *values, size_t count) : count_(count) {
    if (count > kInside) more_.reset(new int64_t[count]);
    std::copy(values, values + count, data());
  }
  Ints(std::initializer_list<int64_t> values) : Ints(values.begin(), values.size()) {}
  Ints(const std::vector<int64_t> &values) : Ints(values.data(), values.size()) {}
  template <size_t N>
  Ints(const int64_t (&values)[N]) : Ints(values, N) {}
  Ints(const Ints &other) : Ints(other.data(), other.count_) {}
  Ints(Ints &&other) noexcept : count_(other.count_), more_(std::move(other.more_)) {
    if (!more_) std::copy(other.inside_, other.inside_ + count_, inside_);
    other.count_ = 0;
  }
  Ints &operator=(const Ints &other) {
    if (this != &other) *this = Ints(other);
    return *this;
  }
  Ints &operator=(Ints &&other) noexcept {
    count_ = std::exchange(other.count_, 0);
    more_ = std::move(other.more_);
    if (!more_) std::copy(other.inside_, other.inside_ + count_, inside_);
    return *this;
  }
  int64_t *data() noexcept { return more_ ? more_.get() : inside_; }
  const int64_t *data() const noexcept { return more_ ? more_.get() : inside_; }
  // Returns NULL for an empty list, because C functions accept NULL for an absent list.
  const int64_t *data_or_null() const noexcept { return count_ == 0 ? nullptr : data(); }
  size_t size() const noexcept { return count_; }
  int32_t count() const noexcept { return static_cast<int32_t>(count_); }
  bool empty() const noexcept { return count_ == 0; }
  const int64_t *begin() const noexcept { return data(); }
  const int64_t *end() const noexcept { return data() + count_; }
  int64_t operator[](size_t index) const noexcept { return data()[index]; }

 private:
  static constexpr size_t kInside = 6;
  size_t count_ = 0;
  std::unique_ptr<int64_t[]> more_;
  int64_t inside_[kInside];
};

}  // namespace GUFUNC_CPP_FORM
}  // namespace gufunc

#endif  // GUFUNC_CPP_HANDLE_HPP
