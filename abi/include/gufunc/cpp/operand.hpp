// SPDX-License-Identifier: Apache-2.0
// What calls take: elements of the program's own, arrays, numbers.
#ifndef GUFUNC_CPP_OPERAND_HPP
#define GUFUNC_CPP_OPERAND_HPP

#include <gufunc/array.h>
#include <gufunc/cpp/dtype.hpp>
#include <gufunc/cpp/handle.hpp>

#include <complex>
#include <type_traits>

namespace gufunc {

class Array;

// An operand of a call: borrows a container's elements, an array or a number for the call's
// duration. Nothing is copied. Of elements in memory: a C-contiguous block, or any strides in
// bytes.
class Operand {
 public:
  // An output to allocate, or no mask.
  Operand() = default;
  // Any contiguous container with data() and size(), as one dimension; read-only if its elements
  // are const.
  template <class C, class T = std::remove_pointer_t<decltype(std::declval<C &>().data())>,
            std::enable_if_t<!std::is_base_of_v<Array, C>, int> = 0>
  Operand(C &container) : Operand(container.data(), {static_cast<int64_t>(container.size())}) {}
  template <class T>
  Operand(T *data, Ints shape) : Operand(dtype_of<std::remove_const_t<T>>(), data, shape) {
    if (std::is_const_v<T>) flags_ = GUF_TENSOR_READ_ONLY;
  }
  template <class T>
  Operand(T *data, Ints shape, Ints strides) : Operand(data, std::move(shape)) {
    strides_ = std::move(strides);
    has_strides_ = true;
  }
  // Elements of a type that C++ does not have: times, records, float16.
  Operand(DType dtype, const void *data, Ints shape)
      : kind_(GUF_OPERAND_TENSOR), dtype_(dtype), shape_(std::move(shape)) {
    value_[0] = reinterpret_cast<uint64_t>(data);
  }
  Operand(DType dtype, const void *data, Ints shape, Ints strides)
      : Operand(dtype, data, std::move(shape)) {
    strides_ = std::move(strides);
    has_strides_ = true;
  }
  Operand(guf_array array) : kind_(GUF_OPERAND_ARRAY), array_(array) {}
  // Python-like scalars: numbers take the type of the other operands, a bool is one.
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Operand(T value) {
    static_assert(!std::is_same_v<T, long double>, "no dtype of libgufunc is long double");
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = GUF_OPERAND_SCALAR;
      dtype_ = GUF_BOOL;
      value_[0] = value ? 1 : 0;
    } else if constexpr (std::is_floating_point_v<T>) {
      set_parts(GUF_OPERAND_WEAK_FLOAT, static_cast<double>(value), 0);
    } else {
      value_[0] = static_cast<uint64_t>(value);
      const bool beyond = std::is_unsigned_v<T> && value_[0] >> 63U != 0;
      kind_ = beyond ? GUF_OPERAND_WEAK_INT_HUGE : GUF_OPERAND_WEAK_INT;
    }
  }
  Operand(std::complex<double> value) {
    set_parts(GUF_OPERAND_WEAK_COMPLEX, value.real(), value.imag());
  }
  // A number that keeps its type: a 0-d array of it, without memory.
  template <class T>
  static Operand scalar(T value) {
    Operand made;
    made.kind_ = GUF_OPERAND_SCALAR;
    made.dtype_ = dtype_of<T>();
    static_assert(sizeof value <= sizeof made.value_);
    __builtin_memcpy(made.value_, &value, sizeof value);
    return made;
  }
  static Operand scalar(DType dtype, const void *element, size_t itemsize) {
    Operand made;
    made.kind_ = GUF_OPERAND_SCALAR;
    made.dtype_ = dtype;
    __builtin_memcpy(made.value_, element, itemsize < 16 ? itemsize : 16);
    return made;
  }
  // A Python-like int of any size: its magnitude, or that it is beyond 64 bits.
  static Operand weak_int(uint64_t magnitude, bool negative, bool beyond = false) {
    Operand made;
    const uint64_t least = uint64_t{1} << 63U;
    if (!beyond && magnitude < least + (negative ? 1 : 0)) {
      made.kind_ = GUF_OPERAND_WEAK_INT;
      made.value_[0] = negative ? 0 - magnitude : magnitude;
      return made;
    }
    made.kind_ = GUF_OPERAND_WEAK_INT_HUGE;
    made.value_[0] = beyond ? UINT64_MAX : magnitude;
    made.value_[1] = (negative ? 1U : 0U) + (beyond ? 2U : 0U);
    return made;
  }

  Operand &read_only(bool yes = true) { return set_flag(GUF_TENSOR_READ_ONLY, yes); }
  // The elements are in the other byte order.
  Operand &swapped(bool yes = true) { return set_flag(GUF_TENSOR_SWAPPED, yes); }
  // The device whose memory the elements lie in.
  Operand &on(guf_device device) {
    device_ = device;
    return *this;
  }

  // Writes the C operand; valid while this Operand lives and stays where it is.
  void write(guf_operand &operand) const {
    operand.kind = kind_;
    operand.dtype = dtype_;
    operand.flags = operand.reserved = 0;
    operand.array = array_;
    operand.tensor = nullptr;
    if (kind_ == GUF_OPERAND_TENSOR) operand.tensor = &tensor();
    operand.value[0] = value_[0];
    operand.value[1] = value_[1];
  }
  guf_operand c_operand() const {
    guf_operand operand;
    write(operand);
    return operand;
  }
  // Of elements in memory.
  const guf_tensor &tensor() const {
    tensor_.struct_size = sizeof(guf_tensor);
    tensor_.dtype = dtype_;
    tensor_.ndim = shape_.count();
    tensor_.flags = flags_;
    tensor_.address = value_[0];
    tensor_.shape = shape_.data();
    tensor_.strides = has_strides_ ? strides_.data() : nullptr;
    tensor_.device = device_;
    return tensor_;
  }
  bool is_none() const noexcept { return kind_ == GUF_OPERAND_NONE; }
  bool is_tensor() const noexcept { return kind_ == GUF_OPERAND_TENSOR; }

 private:
  void set_parts(int32_t kind, double real, double imaginary) {
    kind_ = kind;
    __builtin_memcpy(&value_[0], &real, sizeof real);
    __builtin_memcpy(&value_[1], &imaginary, sizeof imaginary);
  }
  Operand &set_flag(uint32_t flag, bool yes) {
    flags_ = yes ? flags_ | flag : flags_ & ~flag;
    return *this;
  }

  int32_t kind_ = GUF_OPERAND_NONE;
  guf_dtype dtype_ = 0;
  uint32_t flags_ = 0;
  bool has_strides_ = false;
  guf_array array_ = nullptr;
  guf_device device_ = nullptr;
  uint64_t value_[2] = {};  // a number's; of elements in memory their address
  Ints shape_, strides_;
  // Filled in whenever the C operand is written: nothing to copy.
  struct Scratch : guf_tensor {
    Scratch() {}
    Scratch(const Scratch &) : Scratch() {}
    Scratch &operator=(const Scratch &) { return *this; }
  };
  mutable Scratch tensor_;
};

using Operands = std::initializer_list<Operand>;

namespace detail {

// The C operands of a call, on the stack.
class COperands {
 public:
  COperands() = default;
  template <class Range>
  explicit COperands(const Range &operands) {
    for (const Operand &operand : operands) {
      if (count_ == GUF_MAX_OPERANDS) break;  // one more than any ufunc has: refused
      operand.write(list_[count_++]);
    }
  }
  void clear(int32_t count) {
    count_ = count;
    for (int32_t k = 0; k < count; ++k) list_[k] = guf_operand{};
  }
  guf_operand *data() { return list_; }
  int32_t count() const { return count_; }
  guf_operand &operator[](int32_t index) { return list_[index]; }

 private:
  int32_t count_ = 0;
  guf_operand list_[GUF_MAX_OPERANDS];
};

}  // namespace detail

}  // namespace gufunc

#endif  // GUFUNC_CPP_OPERAND_HPP
